/** The contents of files: found by one request for those that are shown together, and opened part by part. */
import { Effect, Redacted } from "effect"
import { chunkOpener, type FileKey, openFileKey } from "../../archive/BlobSealing.ts"
import { epochKeyOf } from "../../archive/OpenedFrames.ts"
import { chunksOf } from "../../domain/archive/Blob.ts"
import { concat } from "../../domain/archive/Bytes.ts"
import { ArchiveFiles, type FoundFile } from "../../ports/archive/ArchiveFiles.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { Calls, Shown } from "../ViewerCalls.ts"
import { makeDownload, type SealedDownload } from "./SealedDownload.ts"
import type { Service } from "./Service.ts"
import type { Session } from "./WorkerSession.ts"

/** Files that are found by one request, and that are known at a time. */
const filesAtOnce = 100
const filesKept = 2000
/** Chunks of a part: 1 MiB of content. */
const chunksOfPart = 16

const refused = (message: string) => new RemoteRefusal({ code: "resource_missing", message })

interface OpenedFile {
  readonly download: SealedDownload
  readonly key: FileKey
  readonly open: ReturnType<typeof chunkOpener>
  readonly chunks: number
  at: number
}

export const makeFiles = (service: Service, session: Session) => {
  const known = new Map<string, FoundFile>()
  const shown = new Set<string>()
  const opened = new Map<number, OpenedFile>()
  let last = 0

  /** Notes the files of messages that are shown: what is asked for one of them is asked for all. */
  const note = ({ messages }: Pick<Shown, "messages">) => {
    for (const { files } of messages) {
      for (const { id, state } of files) if (state === "saved" && !known.has(id)) shown.add(id)
    }
  }

  const find = Effect.fnUntraced(function*(fileId: string) {
    const before = known.get(fileId)
    if (before !== undefined) return before
    shown.delete(fileId)
    const asked = [fileId, ...[...shown].slice(1 - filesAtOnce)]
    const found = yield* (yield* ArchiveFiles).find(session.organizationId, asked)
    shown.clear()
    if (known.size > filesKept) known.clear()
    for (const file of found) known.set(file.fileId, file)
    return known.get(fileId)
  })

  const close = (handle: number) => {
    const file = opened.get(handle)
    opened.delete(handle)
    file?.download.close()
    if (file !== undefined) Redacted.value(file.key).fill(0)
  }

  const openFile = Effect.fnUntraced(function*({ fileId }: Calls["openFile"]["ask"]) {
    const file = yield* find(fileId)
    if (file === undefined || file.content === null) return yield* refused("The content of this file is not archived.")
    const { blobId, bytes, epochId, key: sealedKey } = file.content
    const account = session.open(file.accountId)
    const key = yield* epochKeyOf(account, epochId).pipe(
      Effect.flatMap((epoch) => openFileKey(epoch, blobId, sealedKey)),
      Effect.mapError(() => refused("This file is not readable with this password."))
    )
    last += 1
    opened.set(last, {
      download: makeDownload(service, fileId, bytes),
      key,
      open: chunkOpener(key, { ...account.account, blobId }, bytes),
      chunks: chunksOf(bytes),
      at: 0
    })
    return { handle: last, bytes }
  })

  const readFile = Effect.fnUntraced(function*({ handle }: Calls["readFile"]["ask"]) {
    const file = opened.get(handle)
    if (file === undefined) return yield* refused("This file is not open.")
    if (file.at === file.chunks) {
      close(handle)
      return null
    }
    const end = Math.min(file.chunks, file.at + chunksOfPart)
    const sealed: Array<Uint8Array> = []
    for (let chunk = file.at; chunk < end; chunk++) sealed.push(yield* file.download.next())
    const parts = yield* Effect.forEach(sealed, (chunk, place) => file.open(file.at + place, chunk), {
      concurrency: "unbounded"
    })
    file.at = end
    return concat(...parts)
  }, (effect, { handle }) => Effect.onError(effect, () => Effect.sync(() => close(handle))))

  return {
    note,
    openFile,
    readFile,
    closeFile: ({ handle }: Calls["closeFile"]["ask"]) =>
      Effect.sync(() => {
        close(handle)
        return null
      })
  }
}
