/** Reading of an account's opened archive: its chats, and who is in them. */
import { Effect } from "effect"
import { type Chat, chat, type ChatMember, chatMember } from "../domain/archive/Chat.ts"
import { ArchiveChats, type ChatQuery, type SealedChat } from "../ports/archive/ArchiveChats.ts"
import { Db } from "../ports/Db.ts"
import { type OpenAccount, openEach } from "./OpenedFrames.ts"

/** The chats with their titles; `unreadable` counts titles that do not open. */
const titled = Effect.fnUntraced(function*(open: OpenAccount, chats: ReadonlyArray<SealedChat>) {
  const sealed = chats.flatMap(({ chatId, info }) => info === null ? [] : [{ ...info, chatId }])
  const opened = yield* openEach(open, "chat", sealed)
  const records = new Map(sealed.map(({ chatId }, index) => [chatId, opened[index]?.at(-1) ?? null] as const))
  return {
    chats: chats.map((each): Chat => chat(open.account.accountId, each, records.get(each.chatId) ?? null)),
    unreadable: [...records.values()].filter((record) => record === null).length
  }
})

/** A page of chats, one more than asked for where more follow; null where there is none to start after. */
export const listChats = Effect.fnUntraced(function*(open: OpenAccount, query: ChatQuery) {
  const db = yield* Db
  const found = yield* db.read(
    open.account.organizationId,
    Effect.flatMap(ArchiveChats, (chats) => chats.list(open.account, query))
  )
  return found === null ? null : yield* titled(open, found)
})

/** Those of at most 100 chats that the account has. */
export const findChats = Effect.fnUntraced(function*(open: OpenAccount, chatIds: ReadonlyArray<bigint>) {
  const db = yield* Db
  const found = yield* db.read(
    open.account.organizationId,
    Effect.flatMap(ArchiveChats, (chats) => chats.some(open.account, chatIds))
  )
  return (yield* titled(open, found)).chats
})

const inOrder = (one: ChatMember, other: ChatMember): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : one.id < other.id ? -1 : one.id > other.id ? 1 : 0

/** The members of the newest snapshot by name, none before one is stored; null where the account has no such chat. */
export const listMembers = Effect.fnUntraced(function*(open: OpenAccount, chatId: bigint) {
  const db = yield* Db
  const chats = yield* ArchiveChats
  const { found, sealed } = yield* db.read(
    open.account.organizationId,
    Effect.all({
      found: chats.find(open.account, chatId),
      sealed: chats.members(open.account, chatId)
    }, { concurrency: "unbounded" })
  )
  if (found === null) return null
  if (sealed === null) return { members: [], unreadable: 0 }
  const [records = null] = yield* openEach(open, "members", [{ ...sealed, chatId }])
  return { members: (records ?? []).map(chatMember).sort(inOrder), unreadable: records === null ? 1 : 0 }
})
