import { Effect, type Schema } from "effect"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import { encodeIds } from "../../domain/archive/MessageIds.ts"
import { SealedPageList } from "../../domain/archive/SealedArchive.ts"
import { sealedPagesParts } from "../../domain/archive/SealedRequests.ts"
import { sealedBytesPerAnswer } from "../../domain/Limits.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveChats, type SealedChat } from "../../ports/archive/ArchiveChats.ts"
import { ArchivePages, type MessageName } from "../../ports/archive/ArchivePages.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import type { ArchivedAccount } from "../../ports/archive/Epochs.ts"
import { Db } from "../../ports/Db.ts"
import { onePart } from "./OnePart.ts"
import * as samples from "./sealed.samples.ts"
import { readStates, SealedAnswer } from "./SealedAnswer.ts"

/** Edits of a message that are read at a time. */
const editsRead = 1000

type SealedPagesInput = Schema.Struct.Type<typeof sealedPagesParts>

const windowOf = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  { bound, chat_id, direction, enough, limit, read, since, until }: NonNullable<SealedPagesInput["messages"]>,
  answer: SealedAnswer
) {
  const db = yield* Db
  const pages = yield* ArchivePages
  const chatId = BigInt(chat_id)
  const { ended, pages: found } = yield* db.read(
    account.organizationId,
    pages.window(account, {
      chatId,
      direction,
      bound: bound === undefined ? null : BigInt(bound),
      read: (read ?? []).map(BigInt),
      since: since ?? null,
      until: until ?? null,
      enough,
      limit,
      bytes: sealedBytesPerAnswer
    })
  )
  const taken = answer.take(found, ({ sealed }) => sealed.length)
  answer.has_more ||= !ended
  const named = taken.map(({ ids }) => ids.map((messageId) => ({ chatId, messageId })))
  answer.addStates(account, named, yield* readStates(account, named.flat()))
  const messages = taken.map((page) => {
    const { day, number, sealed } = answer.seal(account, page)
    return { chat_id, number, day, last_id: String(page.lastId), ids: toBase64(encodeIds(page.ids)), sealed }
  })
  return { messages, count: named.flat().length }
})

const editsOf = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  { chat_id, message_id, skip }: NonNullable<SealedPagesInput["edits"]>,
  answer: SealedAnswer
) {
  const db = yield* Db
  const pages = yield* ArchivePages
  const message = { chatId: BigInt(chat_id), messageId: BigInt(message_id) }
  const window = { skip, limit: editsRead, bytes: sealedBytesPerAnswer }
  const { ended, frames } = yield* db.read(account.organizationId, pages.edits(account, message, window))
  for (const each of frames) answer.addFrames(account, each)
  answer.has_more = !ended
  return frames.flatMap(({ number, places }) => places.map((place) => ({ number, place })))
    .sort((one, other) => one.place - other.place)
    .map(({ number }) => String(number))
})

const chatOf = (account: ArchivedAccount, answer: SealedAnswer) => (chat: SealedChat) => ({
  chat_id: String(chat.chatId),
  type: chat.type,
  effect: chat.effect,
  complete: chat.complete,
  messages: chat.messages,
  files: chat.files,
  first_at: chat.firstAt,
  last_at: chat.lastAt,
  left_at: chat.leftAt,
  complete_back_to: chat.completeBackTo,
  protected: chat.protected,
  migrated_to: chat.migratedTo === null ? null : String(chat.migratedTo),
  info: chat.info === null ? null : answer.seal(account, chat.info)
})

const chatsOf = Effect.fnUntraced(function*(account: ArchivedAccount, asked: SealedPagesInput, answer: SealedAnswer) {
  const db = yield* Db
  const chats = yield* ArchiveChats
  const { chat, chats: list, known_chats, named_chats } = asked
  const none = { chats: [], members: null, known_chats: 0 }
  const read = <A, E, R>(effect: Effect.Effect<A, E, R>) => db.read(account.organizationId, effect)
  if (chat !== undefined) {
    const chatId = BigInt(chat)
    const { found, members } = yield* read(
      Effect.all({ found: chats.find(account, chatId), members: chats.members(account, chatId) }, {
        concurrency: "unbounded"
      })
    )
    return {
      ...none,
      chats: found === null ? [] : [chatOf(account, answer)(found)],
      members: members === null ? null : answer.seal(account, members)
    }
  }
  if (list !== undefined) {
    const { after, limit, selected, type } = list
    // The port answers one more than its limit where more follow.
    const query = { type, selected, after: after === undefined ? undefined : BigInt(after), limit: limit - 1 }
    const found = yield* read(chats.list(account, query))
    return { ...none, chats: found === null ? null : found.map(chatOf(account, answer)) }
  }
  if (named_chats !== undefined) {
    const found = yield* read(chats.some(account, named_chats.map(BigInt)))
    return { ...none, chats: found.map(chatOf(account, answer)) }
  }
  return known_chats === undefined
    ? none
    : { ...none, known_chats: yield* read(chats.known(account, known_chats.map(BigInt))) }
})

export const listSealedPages = Operation.sealed(
  "list_sealed_pages",
  {
    summary: "Read an account's archive as it is stored: sealed pages, chats, and what became of messages.",
    description:
      "For connections that open the archive on their user's own machine. A request has one of the members below. An answer has 4 MiB of sealed bytes or its first item: where has_more is true, ask for the rest. Nothing in it can be read without the archive password.",
    method: "POST",
    path: "/v1/archive/sealed/accounts/:account_id/pages",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { account_id: TargetAccount },
    body: sealedPagesParts,
    success: SealedPageList,
    sample: samples.listSealedPages
  },
  Effect.fnUntraced(function*({ account_id, ...asked }, { account: { id }, caller }) {
    yield* onePart(asked)
    const account = { organizationId: caller.organizationId, accountId: id }
    const answer = new SealedAnswer()
    const none = { messages: [], count: 0 }
    const { count, messages } = asked.messages === undefined ? none : yield* windowOf(account, asked.messages, answer)
    if (asked.states !== undefined) {
      const chatId = BigInt(asked.states.chat_id)
      const ids: ReadonlyArray<string> = asked.states.message_ids
      const named: ReadonlyArray<MessageName> = ids.map((id) => ({ chatId, messageId: BigInt(id) }))
      answer.addStates(account, named.map((one) => [one]), yield* readStates(account, named))
      answer.has_more = answer.stated < named.length
    }
    const edits = asked.edits === undefined ? [] : yield* editsOf(account, asked.edits, answer)
    const chats = yield* chatsOf(account, asked, answer)
    for (const epoch of asked.epochs ?? []) answer.need(account, BigInt(epoch))
    const attached = yield* answer.attached()
    yield* (yield* ArchiveReads).note(caller, [{ accountId: account_id, messages: count }])
    return { object: "sealed_pages" as const, messages, edits, ...chats, ...attached }
  })
)
