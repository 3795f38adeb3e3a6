/** An implementation of MessengerArchive and the people around it, as the suites of its contract take them. */
import { type Cause, type Duration, Effect, type Layer, Queue } from "effect"
import {
  type ChatOf,
  type NewSimulatedChat,
  SimulatedChats
} from "../../../../src/layers/messenger/simulated/SimulatedChats.ts"
import {
  type ChatChange,
  type ChatReader,
  type ChatSeen,
  type MessageSeen,
  MessengerArchive,
  type Push,
  type Pushed
} from "../../../../src/ports/messenger/MessengerArchive.ts"
import type { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { arranged, type OutsideWorld } from "./harness.ts"

export interface ChatsHarness<R, E> {
  readonly layer: Layer.Layer<MessengerArchive | MessengerSession | SimulatedChats | R, E>
  readonly world: Effect.Effect<OutsideWorld, never, R>
  /** Lets time pass on the platform. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
}

export const grace = { id: "901", name: "Grace Hopper", username: "grace" }
const henry = { id: "902", name: "Henry Adams", username: null }

/** A private chat, a basic group, and a group and a channel with boxes of their own. */
export const kinds = {
  private: { chatId: 901n, type: "private", shared: false, title: grace.name, username: grace.username, members: [] },
  basic: {
    chatId: -7001n,
    type: "group",
    shared: false,
    title: "Lunch",
    members: [{ ...grace, role: "owner" }, { ...henry, role: "member" }]
  },
  group: {
    chatId: -1_000_000_007_002n,
    type: "group",
    shared: true,
    title: "Team",
    members: [{ ...grace, role: "admin" }, { ...henry, role: "member" }]
  },
  channel: {
    chatId: -1_000_000_007_003n,
    type: "channel",
    shared: true,
    title: "News",
    username: "news",
    protected: true,
    members: [{ ...grace, role: "owner" }]
  }
} as const satisfies Readonly<Record<string, NewSimulatedChat>>

export type Kind = keyof typeof kinds

let channels = 0

/** The chat of the kind; one with a box of its own is no other test's. */
const chatOfKind = (kind: Kind): NewSimulatedChat => {
  const chat: NewSimulatedChat = kinds[kind]
  return chat.shared ? { ...chat, chatId: chat.chatId - BigInt(10 * ++channels) } : chat
}

/** An account whose chats are read and listened to. */
export const arrangedChats = <R>(world: Effect.Effect<OutsideWorld, never, R>) =>
  Effect.fnUntraced(function*() {
    const { sessionRef, userId, world: outside } = yield* arranged(world)()
    const chats = yield* SimulatedChats
    const archive = yield* MessengerArchive
    const heard = yield* Queue.unbounded<Push, Cause.Done>()
    const feed = yield* archive.feed(sessionRef, undefined, {
      pushed: (push) => void Queue.offerUnsafe(heard, push),
      ended: () => void Queue.endUnsafe(heard)
    })
    const reader = yield* archive.read(sessionRef)
    // From here on the platform pushes.
    yield* feed.state
    const join = Effect.fnUntraced(function*(kind: Kind, options?: { readonly hidden?: boolean }) {
      const chat = chatOfKind(kind)
      yield* chats.join(userId, chat, options)
      const where: ChatOf = { userId, chatId: chat.chatId, shared: chat.shared }
      return { chat, where }
    })
    const seen = Effect.fnUntraced(function*(chatId: bigint) {
      const found = (yield* everyChat(reader)).find((chat) => chat.chatId === chatId)
      return found ?? (yield* Effect.die(new Error(`The chat ${chatId} is not listed`)))
    })
    const say = (where: ChatOf, text: string) => chats.send(where, { from: grace, text })
    /** The next pushes, in their order. */
    const next = (count: number) =>
      Effect.map(
        Effect.forEach(Array.from({ length: count }), () => Queue.take(heard)),
        (all) => all.filter((push): push is Pushed => push._tag === "Pushed")
      )
    return { chats, feed, heard, join, next, reader, say, seen, sessionRef, userId, world: outside }
  })

/** The chats of all pages. */
export const everyChat = Effect.fnUntraced(function*(reader: ChatReader) {
  const found: Array<ChatSeen> = []
  let cursor: string | null = null
  do {
    const page: Effect.Success<ReturnType<ChatReader["chats"]>> = yield* reader.chats(cursor)
    found.push(...page.chats)
    cursor = page.next
  } while (cursor !== null)
  return found
})

/** Messages by chat and id, as changes leave them: the texts. */
export type Contents = ReadonlyMap<string, string | null>

const nameOf = (chatId: bigint, id: bigint) => `${chatId}/${id}`

export const withChanges = (contents: Contents, changes: ReadonlyArray<ChatChange>): Contents => {
  const after = new Map(contents)
  for (const change of changes) {
    if (change._tag === "New" || change._tag === "Edited") {
      after.set(nameOf(change.message.chatId, change.message.record.id), change.message.record.text)
    } else if (change._tag === "Deleted") {
      const gone = new Set(change.ids.map(String))
      for (const name of after.keys()) {
        const [chat, id = ""] = name.split("/")
        // Ids of the common box name their chats.
        const isThere = change.chatId === null ? !chat?.startsWith("-1000") : chat === String(change.chatId)
        if (isThere && gone.has(id)) after.delete(name)
      }
    }
  }
  return after
}

export const contentsOf = (messages: ReadonlyArray<MessageSeen>): Contents =>
  new Map(messages.map(({ chatId, record }) => [nameOf(chatId, record.id), record.text]))

export const textsOf = (messages: ReadonlyArray<MessageSeen>) => messages.map(({ record }) => record.text)
