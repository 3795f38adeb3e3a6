/** Chats of an account's archive, from a service elsewhere. */
import { Effect, Layer } from "effect"
import type { SealedPageList } from "../../domain/archive/SealedArchive.ts"
import { ArchiveChats, type SealedChat } from "../../ports/archive/ArchiveChats.ts"
import { SealedArchive } from "../../ports/archive/SealedArchive.ts"
import { framesOf, unwritable } from "./RemoteBytes.ts"
import { RemoteStates } from "./RemoteStates.ts"

const chatOf = (chat: NonNullable<SealedPageList["chats"]>[number]): SealedChat => ({
  chatId: BigInt(chat.chat_id),
  type: chat.type,
  effect: chat.effect,
  complete: chat.complete,
  completeBackTo: chat.complete_back_to,
  protected: chat.protected,
  migratedTo: chat.migrated_to === null ? null : BigInt(chat.migrated_to),
  messages: chat.messages,
  files: chat.files,
  firstAt: chat.first_at,
  lastAt: chat.last_at,
  leftAt: chat.left_at,
  info: chat.info === null ? null : framesOf(chat.info)
})

export const layer = Layer.effect(
  ArchiveChats,
  Effect.gen(function*() {
    const service = yield* SealedArchive
    const states = yield* RemoteStates

    const ask = Effect.fnUntraced(function*(...request: Parameters<typeof service.pages>) {
      const answer = yield* Effect.orDie(service.pages(...request))
      yield* states.keep(answer, [])
      return answer
    })

    const one = ({ accountId }: Parameters<ArchiveChats["Service"]["find"]>[0], chatId: bigint) =>
      ask(accountId, { chat: String(chatId) })

    return ArchiveChats.of({
      list: Effect.fnUntraced(function*({ accountId }, { after, limit, selected, type }) {
        const { chats } = yield* ask(accountId, {
          chats: {
            ...(type === undefined ? {} : { type }),
            ...(selected === undefined ? {} : { selected }),
            ...(after === undefined ? {} : { after: String(after) }),
            limit: limit + 1
          }
        })
        return chats === null ? null : chats.map(chatOf)
      }),
      find: (account, chatId) =>
        Effect.map(one(account, chatId), ({ chats }) => {
          const [found] = chats ?? []
          return found === undefined ? null : chatOf(found)
        }),
      members: (account, chatId) =>
        Effect.map(one(account, chatId), ({ members }) => members === null ? null : framesOf(members)),
      known: ({ accountId }, chatIds) =>
        Effect.map(ask(accountId, { known_chats: chatIds.map(String) }), ({ known_chats }) => known_chats),
      some: ({ accountId }, chatIds) =>
        Effect.map(
          ask(accountId, { named_chats: chatIds.map(String) }),
          ({ chats }) => (chats ?? []).map(chatOf)
        ),
      // Totals are not sealed: list_accounts has them.
      totals: unwritable,
      see: unwritable,
      describe: unwritable,
      setComplete: unwritable
    })
  })
)
