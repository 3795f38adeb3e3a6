/** The calls that read chats and messages. */
import { Effect } from "effect"
import { findChats, listChats, listMembers } from "../../archive/ChatReader.ts"
import { listEdits, listMessages, type MessageList, type MessageQuery } from "../../archive/Reader.ts"
import { AccountId } from "../../domain/accounts/Account.ts"
import type { Chat } from "../../domain/archive/Chat.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { Calls, ChatPlace, Shown } from "../ViewerCalls.ts"
import type { Session } from "./WorkerSession.ts"

const chatsAtOnce = 100
const messagesAtOnce = 60
/** On each side of a message that is shown in its place. */
const neighbours = 30

const shownOf = (list: MessageList): ReadonlyArray<Shown["messages"][number]> =>
  list.messages.map((message) => ({ ...message, details: list.details.get(message.id) ?? {} }))

const placed = ({ open }: Session, { accountId, chatId }: ChatPlace) => ({
  account: open(AccountId.make(accountId)),
  id: BigInt(chatId)
})

export const readChats = Effect.fnUntraced(function*(
  { open }: Session,
  { accountId, after }: Calls["chats"]["ask"]
) {
  const found = yield* listChats(open(AccountId.make(accountId)), {
    type: undefined,
    selected: undefined,
    after: after === null ? undefined : BigInt(after),
    limit: chatsAtOnce
  })
  if (found === null) {
    return yield* new RemoteRefusal({ code: "resource_missing", message: "The list has changed. Open it again." })
  }
  const chats = found.chats.slice(0, chatsAtOnce)
  return { chats, hasMore: found.chats.length > chatsAtOnce, unreadable: found.unreadable }
})

/** Accounts whose chats are asked for at the same time. */
const accountsAtOnce = 4

const nameOf = ({ accountId, chatId }: ChatPlace): string => `${accountId} ${chatId}`

/** Chats by account and id, each asked for once, and those of an account together. */
export const makeChatFinder = ({ open }: Session) => {
  const known = new Map<string, Chat | null>()
  return Effect.fnUntraced(function*(places: ReadonlyArray<ChatPlace>) {
    const missing = new Map(places.filter((place) => !known.has(nameOf(place))).map((place) => [nameOf(place), place]))
    yield* Effect.forEach(
      Map.groupBy(missing.values(), ({ accountId }) => accountId),
      Effect.fnUntraced(function*([accountId, of]) {
        const chats = yield* findChats(open(AccountId.make(accountId)), of.map(({ chatId }) => BigInt(chatId)))
        const found = new Map(chats.map((chat) => [chat.id, chat]))
        for (const place of of) known.set(nameOf(place), found.get(place.chatId) ?? null)
      }),
      { concurrency: accountsAtOnce, discard: true }
    )
    return places.map((place) => known.get(nameOf(place)) ?? null)
  })
}

export const readMembers = Effect.fnUntraced(function*(session: Session, place: ChatPlace) {
  const { account, id } = placed(session, place)
  return (yield* listMembers(account, id)) ?? { members: [], unreadable: 0 }
})

const query = (chatId: bigint, direction: MessageQuery["direction"], bound: bigint | null): MessageQuery => ({
  chatId,
  direction,
  bound,
  since: null,
  until: null,
  kind: null,
  deleted: null,
  limit: messagesAtOnce
})

/** The oldest first, whatever the direction. */
export const readMessages = Effect.fnUntraced(function*(
  session: Session,
  { bound, direction, since, ...place }: Calls["messages"]["ask"]
) {
  const { account, id } = placed(session, place)
  const list = yield* listMessages(account, {
    ...query(id, direction, bound === null ? null : BigInt(bound)),
    since: since === null ? null : new Date(`${since}T00:00:00Z`)
  })
  const { hasMore, next, unreadable } = list
  const messages = shownOf(list)
  return {
    messages: direction === "older" ? messages.toReversed() : messages,
    hasMore,
    next: next === null ? null : String(next),
    unreadable
  }
})

/** A message among its neighbours; null where it is not archived or does not open. */
export const readAround = Effect.fnUntraced(function*(
  session: Session,
  { id: messageId, ...place }: Calls["around"]["ask"]
) {
  const { account, id } = placed(session, place)
  const at = BigInt(messageId)
  const older = yield* listMessages(account, { ...query(id, "older", at + 1n), limit: neighbours + 1 })
  if (older.messages[0]?.id !== messageId) return null
  const newer = yield* listMessages(account, { ...query(id, "newer", at), limit: neighbours })
  return {
    messages: [...shownOf(older).toReversed(), ...shownOf(newer)],
    hasMore: older.hasMore,
    hasNewer: newer.hasMore,
    next: null,
    unreadable: older.unreadable + newer.unreadable
  }
})

export const readEdits = Effect.fnUntraced(function*(
  session: Session,
  { id: messageId, ...place }: Calls["edits"]["ask"]
) {
  const { account, id } = placed(session, place)
  const found = yield* listEdits(account, id, BigInt(messageId))
  return found ?? { revisions: [], unreadable: 1 }
})
