/** People who write on the simulated platform; the API gives no access to it. */
import { Clock, Context, Effect } from "effect"
import type { ChatType } from "../../../domain/archive/Chat.ts"
import type { MessageDetails, MessageKind, SenderRecord } from "../../../domain/archive/Records.ts"
import type { MessageSeen, Push, Pushed } from "../../../ports/messenger/MessengerArchive.ts"
import {
  type ChatDocument,
  chatName,
  emptyAccount,
  emptyBox,
  logged,
  type MessageDocument,
  visibleTo,
  withMessage,
  withoutMessages
} from "./ChatDocuments.ts"
import type { ChatDocumentStore } from "./ChatDocumentStore.ts"
import { boxOf, chatSeen, messageSeen } from "./ChatViews.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"

/** A chat to be made. With `shared` it has a box of its own, which all its accounts see. */
export interface NewSimulatedChat {
  readonly chatId: bigint
  readonly type: ChatType
  readonly shared: boolean
  readonly title: string | null
  readonly username?: string
  readonly protected?: boolean
  readonly members: ReadonlyArray<ChatDocument["members"][number]>
}

/** A message to be sent; the ids of files are those of their contents. */
export interface NewSimulatedMessage {
  readonly from: SenderRecord | null
  readonly text: string | null
  readonly kind?: MessageKind
  readonly details?: MessageDetails
  /** Absent, the Clock's now. */
  readonly at?: Date
  readonly files?: MessageDocument["files"]
  /** It disappears then. */
  readonly expiresAt?: Date
}

/** A chat by the account that is asked, which any of its accounts may be. */
export interface ChatOf {
  readonly userId: string
  readonly chatId: bigint
  readonly shared: boolean
}

export class SimulatedChats extends Context.Service<SimulatedChats, {
  /** Makes the chat, or adds the account to it; from then on it sees what `hidden` does not hide. */
  join(userId: string, chat: NewSimulatedChat, options?: { readonly hidden?: boolean }): Effect.Effect<void>
  leave(chat: ChatOf): Effect.Effect<void>
  /** Puts messages of the past into the chat, with their ids, without any push. */
  restore(chat: ChatOf, messages: ReadonlyArray<MessageSeen["record"]>): Effect.Effect<void>
  /** Answers the message's id. */
  send(chat: ChatOf, message: NewSimulatedMessage): Effect.Effect<bigint>
  edit(chat: ChatOf, id: bigint, text: string): Effect.Effect<void>
  remove(chat: ChatOf, ids: ReadonlyArray<bigint>): Effect.Effect<void>
  /** A basic group becomes a group with a box of its own, of that id; the old one names it from then on. */
  migrate(chat: ChatOf, into: bigint): Effect.Effect<void>
  /** The box forgets what has happened in it: each difference is too long. */
  forgetLog(chat: ChatOf): Effect.Effect<void>
  /** Everything that the account sees now. */
  visible(userId: string): Effect.Effect<ReadonlyArray<MessageSeen>>
  /** Loses the next pushes of the account. */
  losePushes(userId: string, times: number): Effect.Effect<void>
}>()("org-security-console/layers/messenger/simulated/SimulatedChats") {}

/** Listeners to the pushes of accounts, in this process. */
export interface ChatPushes {
  readonly listeners: Map<string, Set<(push: Push) => void>>
  readonly lost: Map<string, number>
}

export const makePushes = (): ChatPushes => ({ listeners: new Map(), lost: new Map() })

export const make = (
  store: SimulatedStore["Service"],
  documents: ChatDocumentStore["Service"],
  pushes: ChatPushes
): SimulatedChats["Service"] => {
  const push = (userId: string, pushed: Pushed) => {
    const left = pushes.lost.get(userId) ?? 0
    if (left > 0) pushes.lost.set(userId, left - 1)
    else for (const listener of pushes.listeners.get(userId) ?? []) listener(pushed)
  }

  const find = Effect.fnUntraced(function*({ chatId, shared, userId }: ChatOf) {
    const name = chatName(userId, chatId, shared)
    const chat = yield* documents.chat(name)
    return chat === null ? yield* Effect.die(new Error(`There is no chat ${name}`)) : { chat, name }
  })

  /** Changes a chat and its box, and pushes that to its accounts once it is stored. */
  const change = Effect.fnUntraced(function*(
    where: ChatOf,
    kind: "new" | "edited" | "deleted",
    make: (chat: ChatDocument, nextId: number) => readonly [ChatDocument, ReadonlyArray<string>]
  ) {
    const done = yield* store.exclusively(Effect.gen(function*() {
      const { chat, name } = yield* find(where)
      const account = (yield* documents.account(where.userId)) ?? emptyAccount
      const nextId = chat.box === null ? account.nextId : chat.nextId
      const [changed, ids] = make(chat, nextId)
      const grown = kind === "new" ? nextId + 1 : nextId
      const entry = { change: kind, chatId: chat.chatId, ids }
      if (chat.box === null) {
        const box = logged(account.box, entry)
        yield* documents.saveAccount(where.userId, { ...account, box, nextId: grown })
        yield* documents.saveChat(name, changed)
        return { chat: changed, ids, position: box.position }
      }
      const box = logged(chat.box, entry)
      const saved = { ...changed, box, nextId: grown }
      yield* documents.saveChat(name, saved)
      return { chat: saved, ids, position: box.position }
    }))
    for (const userId of Object.keys(done.chat.accounts)) {
      const message = visibleTo(done.chat, userId).find(({ id }) => id === done.ids[0])
      const common = { _tag: "Pushed" as const, box: boxOf(done.chat), position: done.position, count: 1 }
      const chats = [chatSeen(done.chat, userId)]
      if (kind === "deleted") {
        const chatId = done.chat.box === null ? null : BigInt(done.chat.chatId)
        push(userId, { ...common, chats, change: { _tag: "Deleted", chatId, ids: done.ids.map(BigInt) } })
      } else if (message !== undefined) {
        const seen = messageSeen(done.chat, message, userId)
        push(userId, { ...common, chats, change: { _tag: kind === "new" ? "New" : "Edited", message: seen } })
      }
    }
    return done.ids
  })

  const join: SimulatedChats["Service"]["join"] = (
    userId,
    { chatId, members, protected: isProtected = false, shared, title, type, username },
    options
  ) =>
    store.exclusively(Effect.gen(function*() {
      const name = chatName(userId, chatId, shared)
      const account = (yield* documents.account(userId)) ?? emptyAccount
      const before = yield* documents.chat(name)
      if (before?.accounts[userId]?.left === false) return
      const made: ChatDocument = before ?? {
        chatId: String(chatId),
        type,
        title,
        username: username ?? null,
        protected: isProtected,
        migratedTo: null,
        members,
        messages: [],
        nextId: 1,
        box: shared ? emptyBox : null,
        accounts: {}
      }
      const joinedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const visibleFrom = options?.hidden === true ? made.nextId : 1
      const accounts = { ...made.accounts, [userId]: { joinedAt, visibleFrom, left: false } }
      yield* documents.saveChat(name, { ...made, accounts })
      if (!account.chats.includes(name)) {
        yield* documents.saveAccount(userId, { ...account, chats: [...account.chats, name] })
      }
    }))

  return {
    join,

    leave: (where) =>
      store.exclusively(Effect.gen(function*() {
        const { chat, name } = yield* find(where)
        const member = chat.accounts[where.userId]
        if (member === undefined) return
        yield* documents.saveChat(name, {
          ...chat,
          accounts: { ...chat.accounts, [where.userId]: { ...member, left: true } }
        })
      })),

    restore: (where, records) =>
      store.exclusively(Effect.gen(function*() {
        const { chat, name } = yield* find(where)
        const restored = records.map(({ at, details, from, id, kind, text }) => ({
          id: String(id),
          at,
          from,
          kind,
          text,
          details,
          files: [],
          expiresAt: null
        }))
        const nextId = records.reduce((next, { id }) => Math.max(next, Number(id) + 1), chat.nextId)
        const messages = restored.reduce((all, message) => withMessage(all, message), chat).messages
        yield* documents.saveChat(name, { ...chat, messages, nextId })
      })),

    send: Effect.fnUntraced(function*(where, { at, details = {}, expiresAt, files = [], from, kind = "text", text }) {
      const now = at?.getTime() ?? (yield* Clock.currentTimeMillis)
      const [id = "0"] = yield* change(where, "new", (chat, nextId) => {
        const message = {
          id: String(nextId),
          at: Math.floor(now / 1000),
          from,
          kind,
          text,
          details,
          files,
          expiresAt: expiresAt === undefined ? null : Math.floor(expiresAt.getTime() / 1000)
        }
        return [withMessage(chat, message), [message.id]]
      })
      return BigInt(id)
    }),

    edit: Effect.fnUntraced(function*(where, id, text) {
      const edited_at = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      yield* change(where, "edited", (chat) => {
        const found = chat.messages.find((message) => message.id === String(id))
        if (found === undefined) return [chat, []]
        return [withMessage(chat, { ...found, text, details: { ...found.details, edited_at } }), [found.id]]
      })
    }),

    remove: (where, ids) =>
      Effect.asVoid(change(where, "deleted", (chat) => [withoutMessages(chat, ids), ids.map(String)])),

    migrate: Effect.fnUntraced(function*(where, into) {
      const { chat: { members, title, type } } = yield* find(where)
      yield* join(where.userId, { chatId: into, type, shared: true, title, members })
      const now = yield* Clock.currentTimeMillis
      yield* change(where, "new", (chat, nextId) => {
        const message = {
          id: String(nextId),
          at: Math.floor(now / 1000),
          from: null,
          kind: "service" as const,
          text: null,
          details: { service: "ChatMigrateTo" },
          files: [],
          expiresAt: null
        }
        return [withMessage({ ...chat, migratedTo: String(into) }, message), [message.id]]
      })
    }),

    forgetLog: (where) =>
      store.exclusively(Effect.gen(function*() {
        const forgotten = <Document extends { readonly box: typeof emptyBox | null }>(document: Document) => ({
          ...document,
          box: document.box === null ? null : { ...document.box, log: [], logFrom: document.box.position }
        })
        const { chat, name } = yield* find(where)
        yield* documents.saveChat(name, forgotten(chat))
        const account = yield* documents.account(where.userId)
        if (account === null || chat.box !== null) return
        const box = { ...account.box, log: [], logFrom: account.box.position }
        yield* documents.saveAccount(where.userId, { ...account, box })
      })),

    visible: Effect.fnUntraced(function*(userId) {
      const account = (yield* documents.account(userId)) ?? emptyAccount
      const chats = yield* Effect.forEach(account.chats, (name) => documents.chat(name))
      return chats.flatMap((chat) =>
        chat === null ? [] : visibleTo(chat, userId).map((message) => messageSeen(chat, message, userId))
      )
    }),

    losePushes: (userId, times) =>
      Effect.sync(() => void pushes.lost.set(userId, (pushes.lost.get(userId) ?? 0) + times))
  }
}
