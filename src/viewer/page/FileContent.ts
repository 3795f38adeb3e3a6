/** The content of a file, which the worker opens: shown by an address of this page alone, or stored by the browser. */
import type { ArchivedFile } from "../../domain/archive/Message.ts"
import { safeFileName } from "../../domain/FileNames.ts"
import { writtenFrom } from "../../domain/FileSizes.ts"
import { mediaOf, type MediaType } from "./MediaTypes.ts"
import type { OpenedArchive } from "./OpenedArchive.ts"
import { type Part, picked } from "./SavedFile.ts"

/** The most that is collected before the browser stores it. */
const collectedAtMost = 1024 * 1024 * 1024

/** Gets the share that is opened, from 0 to 1. */
export type Progress = (share: number) => void

/** The parts of the content in their order; the next one is read when it is asked for. */
async function* partsOf(
  { call }: OpenedArchive,
  { account_id, id }: ArchivedFile,
  signal: AbortSignal,
  progress: Progress
): AsyncGenerator<Part> {
  const { bytes, handle } = await call("openFile", { accountId: account_id, fileId: id })
  let seen = 0
  try {
    while (!signal.aborted) {
      const part = await call("readFile", { handle })
      if (part === null) return
      seen += part.length
      progress(bytes === 0 ? 1 : seen / bytes)
      yield part
    }
  } finally {
    // One that was read to its end is closed already.
    call("closeFile", { handle }).catch(() => undefined)
  }
}

/** Collects the content outside the page's own memory; null where it was stopped. */
const collect = async (archive: OpenedArchive, file: ArchivedFile, signal: AbortSignal, progress: Progress) => {
  const parts: Array<Blob> = []
  let first: Part = new Uint8Array()
  for await (const part of partsOf(archive, file, signal, progress)) {
    if (parts.length === 0) first = part
    parts.push(new Blob([part]))
  }
  return signal.aborted ? null : { first, parts }
}

/** A content with an address that this page alone can open, until it is revoked. */
export interface ShownContent extends Pick<MediaType, "kind"> {
  readonly address: string
}

/** The content as what its bytes are; null where it was stopped. */
export const showContent = async (
  archive: OpenedArchive,
  file: ArchivedFile,
  signal: AbortSignal,
  progress: Progress
): Promise<ShownContent | null> => {
  const content = await collect(archive, file, signal, progress)
  if (content === null) return null
  const media = mediaOf(content.first)
  if (media === null) throw new Error("It is not of a type that is shown here. Download it to open it.")
  return { kind: media.kind, address: URL.createObjectURL(new Blob(content.parts, { type: media.type })) }
}

const store = (content: Blob, name: string): void => {
  const address = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** Stores the content on the user's machine; false where that was stopped. */
export const downloadContent = async (
  archive: OpenedArchive,
  file: ArchivedFile,
  signal: AbortSignal,
  progress: Progress
): Promise<boolean> => {
  const name = safeFileName(file.name, `file-${file.id.slice(0, 8)}`)
  const writable = file.bytes < writtenFrom ? undefined : await picked(name)
  if (writable === false) return false
  if (writable === undefined) {
    if (file.bytes > collectedAtMost) {
      throw new Error("It is too large for this browser. Use Chrome or Edge on a computer, or an export.")
    }
    const content = await collect(archive, file, signal, progress)
    if (content === null) return false
    store(new Blob(content.parts, { type: "application/octet-stream" }), name)
    return true
  }
  try {
    for await (const part of partsOf(archive, file, signal, progress)) await writable.write(part)
    if (signal.aborted) {
      await writable.abort()
      return false
    }
    await writable.close()
    return true
  } catch (error) {
    await writable.abort().catch(() => undefined)
    throw error
  }
}
