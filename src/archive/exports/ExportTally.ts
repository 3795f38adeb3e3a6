/** The counts of an export while it is made, and the digests of the pages that it was made from. */

const digestSize = 32
const entrySize = 8 + digestSize

export interface ExportTally {
  /** Bytes of the part that were made. */
  bytes: number
  messages: number
  /** Messages whose bytes were sent: without those that a client has of an earlier download. */
  sentMessages: number
  edits: number
  deleted: number
  files: number
  /** Messages whose page does not open. */
  unreadable: number
  lostEdits: number
  /** Edits that messages have no room for. */
  editsLeftOut: number
  lostTitles: number
  /** Files that a part has no room for. */
  leftOut: number
  /** Files whose content ends early, as JSON of the manifest. */
  readonly unreadableFiles: Array<string>
  readonly addPage: (number: bigint, digest: Uint8Array) => void
  /** The pages in the order in which they were read first. */
  readonly pages: () => Iterable<readonly [number: bigint, digest: Uint8Array]>
}

export const makeTally = (): ExportTally => {
  let bytes = new Uint8Array(entrySize * 64)
  let size = 0
  const known = new Set<bigint>()
  return {
    bytes: 0,
    messages: 0,
    sentMessages: 0,
    edits: 0,
    deleted: 0,
    files: 0,
    unreadable: 0,
    lostEdits: 0,
    editsLeftOut: 0,
    lostTitles: 0,
    leftOut: 0,
    unreadableFiles: [],
    addPage: (number, digest) => {
      if (known.has(number)) return
      known.add(number)
      if (size + entrySize > bytes.length) {
        const larger = new Uint8Array(bytes.length * 2)
        larger.set(bytes)
        bytes = larger
      }
      new DataView(bytes.buffer).setBigInt64(size, number)
      bytes.set(digest.subarray(0, digestSize), size + 8)
      size += entrySize
    },
    *pages() {
      const view = new DataView(bytes.buffer)
      for (let at = 0; at < size; at += entrySize) {
        yield [view.getBigInt64(at), bytes.subarray(at + 8, at + entrySize)] as const
      }
    }
  }
}
