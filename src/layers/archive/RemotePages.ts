/** Pages of an account's archive, and the keys of its epochs, from a service elsewhere. */
import { Effect, Layer } from "effect"
import { decodeIds } from "../../domain/archive/MessageIds.ts"
import { sealedRowsPerAnswer } from "../../domain/Limits.ts"
import { ArchivePages, type SealedFrames, type SealedMessages } from "../../ports/archive/ArchivePages.ts"
import { Epochs } from "../../ports/archive/Epochs.ts"
import { SealedArchive } from "../../ports/archive/SealedArchive.ts"
import { bytesOf, framesOf, unwritable } from "./RemoteBytes.ts"
import { RemoteStates } from "./RemoteStates.ts"

/** Messages whose edits are asked for at the same time. */
const messagesAtOnce = 4

const pages = Layer.effect(
  ArchivePages,
  Effect.gen(function*() {
    const service = yield* SealedArchive
    const states = yield* RemoteStates

    /** Answers are cut by their size: it goes on until it has as many edits, or bytes of frames, as were asked for. */
    const edits: ArchivePages["Service"]["edits"] = Effect.fnUntraced(
      function*({ accountId }, { chatId, messageId }, { bytes, limit, skip }) {
        const found = new Map<string, SealedFrames & { readonly places: Array<number> }>()
        let next = skip
        let left = bytes
        while (true) {
          const asked = { chat_id: String(chatId), message_id: String(messageId), skip: next }
          const answer = yield* Effect.orDie(service.pages(accountId, { edits: asked }))
          yield* states.keep(answer, [])
          const frames = new Map(answer.frames.map((each) => [each.number, each]))
          for (const number of answer.edits) {
            const named = frames.get(number)
            if (named === undefined || next === skip + limit) return { frames: [...found.values()], ended: false }
            const known = found.get(number) ?? { ...framesOf(named), places: [] }
            if (!found.has(number)) left -= known.sealed.length
            if (left < 0 && found.size > 0) return { frames: [...found.values()], ended: false }
            found.set(number, known)
            known.places.push(next++)
          }
          const more = answer.has_more && answer.edits.length > 0
          if (!more || next === skip + limit) return { frames: [...found.values()], ended: !more }
        }
      }
    )

    return ArchivePages.of({
      /** Answers are cut by their size: it goes on until it has as many pages, or messages, as were asked for. */
      window: Effect.fnUntraced(function*(
        { accountId },
        { bound, bytes, chatId, direction, enough, limit, read, since, until }
      ) {
        const found: Array<SealedMessages> = []
        let left = bytes
        let more = true
        while (more && left > 0 && found.length < limit) {
          const before = found.slice(0, -1).reduce((sum, { ids }) => sum + ids.length, 0)
          if (before >= enough) break
          const answer = yield* Effect.orDie(service.pages(accountId, {
            messages: {
              chat_id: String(chatId),
              direction,
              ...(bound === null ? {} : { bound: String(bound) }),
              ...(since === null ? {} : { since }),
              ...(until === null ? {} : { until }),
              read: [...read, ...found.map(({ number }) => number)].map(String),
              enough: enough - before,
              limit: Math.min(limit - found.length, sealedRowsPerAnswer)
            }
          }))
          const rows = answer.messages.map(({ ids, last_id, ...frames }): SealedMessages => ({
            ...framesOf(frames),
            lastId: BigInt(last_id),
            ids: decodeIds(bytesOf(ids))
          }))
          const stated = rows.slice(0, answer.stated).flatMap(({ ids }) => ids)
          yield* states.keep(answer, stated.map((id) => ({ accountId, chatId, id })))
          more = answer.has_more && rows.length > 0
          for (const row of rows) {
            if (left > 0) found.push(row)
            else more = true
            left -= row.sealed.length
          }
        }
        return { pages: found, ended: !more }
      }),

      changes: states.changes,
      files: states.files,

      edits,

      /** A request for each message: few have files that an edit brought. */
      editFrames: (account, messages, limit, bytes) =>
        Effect.map(
          Effect.forEach(
            messages,
            (message) =>
              Effect.map(
                edits(account, message, { skip: 0, limit, bytes: bytes / messages.length }),
                ({ frames }) => frames.map((each) => ({ ...each, chatId: message.chatId }))
              ),
            { concurrency: messagesAtOnce }
          ),
          (found) => [...new Map(found.flat().map((each) => [each.number, each])).values()]
        )
    })
  })
)

const epochs = Layer.effect(
  Epochs,
  Effect.map(RemoteStates, (states) =>
    Epochs.of({
      sealed: states.epochs,
      begin: unwritable,
      open: unwritable,
      addClosed: unwritable,
      fence: unwritable,
      close: unwritable
    }))
)

export const layer = Layer.merge(pages, epochs)
