/** Files of archived messages, from a service elsewhere. */
import { Effect, Layer } from "effect"
import type { SealedFileList } from "../../domain/archive/SealedArchive.ts"
import { ArchiveFiles, type FoundFile } from "../../ports/archive/ArchiveFiles.ts"
import type { SealedFrames } from "../../ports/archive/ArchivePages.ts"
import { SealedArchive, type SealedFilesRequest } from "../../ports/archive/SealedArchive.ts"
import { bytesOf, framesOf } from "./RemoteBytes.ts"
import { RemoteStates } from "./RemoteStates.ts"

/** Files, and messages of files, that a request names. */
const filesNamed = 100

const fileOf = (file: NonNullable<SealedFileList["files"]>[number]): FoundFile => ({
  fileId: file.file,
  accountId: file.account_id,
  chatId: BigInt(file.chat_id),
  messageId: BigInt(file.message_id),
  day: file.day,
  state: file.state,
  reason: file.reason,
  at: file.at,
  content: file.content === null ? null : {
    blobId: file.content.blob_id,
    version: null,
    epochId: BigInt(file.content.epoch_id),
    key: bytesOf(file.content.key),
    bytes: file.content.bytes,
    sha256: bytesOf(file.content.sha256)
  }
})

const slices = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from(
    { length: Math.ceil(items.length / filesNamed) },
    (_, place) => items.slice(place * filesNamed, (place + 1) * filesNamed)
  )

export const layer = Layer.effect(
  ArchiveFiles,
  Effect.gen(function*() {
    const service = yield* SealedArchive
    const states = yield* RemoteStates

    const ask = Effect.fnUntraced(function*(request: SealedFilesRequest) {
      const answer = yield* Effect.orDie(service.files(request))
      yield* states.keep({ epochs: answer.epochs, files: [], frames: [], states: [] }, [])
      return answer
    })

    return ArchiveFiles.of({
      find: (_, fileIds) =>
        Effect.map(
          Effect.forEach(slices(fileIds), (files) => ask({ files })),
          (answers) => answers.flatMap(({ files }) => files ?? []).map(fileOf)
        ),

      list: Effect.fnUntraced(function*({ accountId }, { after, chatId, limit, state }) {
        const { files } = yield* ask({
          list: {
            account_id: accountId,
            ...(chatId === null ? {} : { chat_id: String(chatId) }),
            ...(state === null ? {} : { state }),
            ...(after === null ? {} : { after }),
            limit
          }
        })
        return files === null ? null : files.filter(({ account_id }) => account_id === accountId).map(fileOf)
      }),

      frames: Effect.fnUntraced(function*({ accountId }, files) {
        const found: Array<SealedFrames & { readonly chatId: bigint }> = []
        for (const part of slices(files)) {
          const messages = part.map(({ chatId, day, messageId }) => ({
            chat_id: String(chatId),
            day,
            message_id: String(messageId)
          }))
          for (let more = true, skip = 0; more;) {
            const { has_more, pages } = yield* ask({ messages: { account_id: accountId, messages, skip } })
            found.push(...pages.map((page) => ({ ...framesOf(page), chatId: BigInt(page.chat_id) })))
            skip += pages.length
            more = has_more && pages.length > 0
          }
        }
        return found
      })
    })
  })
)
