/** A reader of ZIP files for tests: by the list at their end, as programs read them. */

export interface FoundEntry {
  readonly path: string
  readonly content: Buffer
  readonly crc: number
}

/** The entries, which are stored as they are. */
export const entriesOfZip = (bytes: Buffer): ReadonlyArray<FoundEntry> => {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const count = bytes.readUInt16LE(end + 10)
  let at = bytes.readUInt32LE(end + 16)
  return Array.from({ length: count }, () => {
    const crc = bytes.readUInt32LE(at + 16)
    const size = bytes.readUInt32LE(at + 24)
    const nameLength = bytes.readUInt16LE(at + 28)
    const further = bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
    const local = bytes.readUInt32LE(at + 42)
    const path = bytes.toString("utf8", at + 46, at + 46 + nameLength)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    at += 46 + nameLength + further
    return { path, content: bytes.subarray(start, start + size), crc }
  })
}
