/** Chats of the simulated platform as the service's sessions read them. */
import { Effect, Stream } from "effect"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import {
  type BoxState,
  type ChannelDifference,
  type ChatReader,
  ChatRefused,
  FileGone,
  type MessengerArchive,
  PositionRefused,
  type PushListener
} from "../../../ports/messenger/MessengerArchive.ts"
import { type MessengerSession, NoSession } from "../../../ports/messenger/MessengerSession.ts"
import { changesSince, type ChatDocument, chatName, emptyAccount, visibleTo } from "./ChatDocuments.ts"
import type { ChatDocumentStore } from "./ChatDocumentStore.ts"
import { changesOf, chatSeen, messageSeen, refOf } from "./ChatViews.ts"
import type { Calls } from "./SimulatedCalls.ts"
import type { ChatPushes } from "./SimulatedChats.ts"
import type { PlatformOperation } from "./SimulatedPlatform.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"

/** Changes that one difference answers at most. */
const differenceSize = 100

const chatsPerPage = 100

/** The state of the common box in the form of the platform; its date follows from the position. */
const stateOf = (position: number): BoxState => ({ position, date: position, qts: 0 })

export const make = (
  store: SimulatedStore["Service"],
  documents: ChatDocumentStore["Service"],
  pushes: ChatPushes,
  { session }: Calls,
  { open }: Pick<MessengerSession["Service"], "open">
): MessengerArchive["Service"] => {
  const userOf = (ref: SessionRef) =>
    Effect.flatMap(
      store.authorizationOf(ref),
      (authorization) =>
        authorization === null || authorization.password_pending
          ? Effect.flatMap(store.ended(ref), (reason) => Effect.fail(new NoSession({ reason: reason ?? "never" })))
          : Effect.succeed(authorization.user_id)
    )

  /** A call of a session that has not ended. */
  const asked = <A, E>(ref: SessionRef, operation: PlatformOperation, work: Effect.Effect<A, E>) =>
    session(ref, operation, Effect.andThen(userOf(ref), work))

  const accountOf = (userId: string) => Effect.map(documents.account(userId), (account) => account ?? emptyAccount)

  const chatsOf = Effect.fnUntraced(function*(userId: string) {
    const { chats } = yield* accountOf(userId)
    const found = yield* Effect.forEach(chats, (name) => documents.chat(name))
    return found.filter((chat): chat is ChatDocument => chat !== null)
  })

  const chatAt = Effect.fnUntraced(function*(userId: string, ref: string) {
    const [kind, id = "0"] = ref.split(":")
    const chat = yield* documents.chat(chatName(userId, BigInt(id), kind === "own"))
    if (chat === null || chat.accounts[userId] === undefined) return yield* new ChatRefused({ reason: "unknown" })
    if (chat.accounts[userId].left && chat.box !== null) return yield* new ChatRefused({ reason: "left" })
    return chat
  })

  const difference = Effect.fnUntraced(function*(userId: string, since: BoxState) {
    const { box } = yield* accountOf(userId)
    const all = changesSince(box, since.position)
    if (all === null) return { _tag: "TooLong" as const, state: stateOf(box.position) }
    const entries = all.slice(0, differenceSize)
    const chats = new Map(
      (yield* chatsOf(userId)).filter((chat) => chat.box === null).map((chat) => [
        chat.chatId,
        chat
      ])
    )
    const named = new Set(entries.map(({ chatId }) => chatId))
    return {
      _tag: "Since" as const,
      chats: [...chats.values()].filter(({ chatId }) => named.has(chatId)).map((chat) => chatSeen(chat, userId)),
      changes: changesOf(entries, chats, userId),
      channels: [],
      state: stateOf(entries.at(-1)?.position ?? box.position),
      more: entries.length < all.length
    }
  })

  const channelDifference = Effect.fnUntraced(function*(userId: string, ref: string, since: number) {
    const chat = yield* chatAt(userId, ref)
    if (chat.box === null) return yield* new PositionRefused()
    const all = changesSince(chat.box, since)
    if (all === null) {
      return {
        _tag: "TooLong",
        chat: chatSeen(chat, userId),
        messages: visibleTo(chat, userId).slice(-differenceSize).map((message) => messageSeen(chat, message, userId))
      } satisfies ChannelDifference
    }
    const entries = all.slice(0, differenceSize)
    return {
      _tag: "Since",
      chats: [chatSeen(chat, userId)],
      changes: changesOf(entries, new Map([[chat.chatId, chat]]), userId),
      position: entries.at(-1)?.position ?? chat.box.position,
      more: entries.length < all.length
    } satisfies ChannelDifference
  })

  const feed = Effect.fnUntraced(function*(ref: SessionRef, slot?: Slot, listener?: PushListener) {
    const { events } = yield* open(ref, slot)
    const userId = yield* userOf(ref)
    if (listener !== undefined) {
      yield* Effect.forkScoped(Effect.andThen(Stream.runDrain(events), Effect.sync(listener.ended)))
      const known = pushes.listeners.get(userId) ?? new Set()
      pushes.listeners.set(userId, known.add(listener.pushed))
      yield* Effect.addFinalizer(() => Effect.sync(() => known.delete(listener.pushed)))
    }
    return {
      state: asked(ref, "difference", Effect.map(accountOf(userId), ({ box }) => stateOf(box.position))),
      peers: (refs: ReadonlyArray<string>) =>
        asked(
          ref,
          "read_chats",
          Effect.gen(function*() {
            const named = new Set(refs)
            const chats = (yield* chatsOf(userId)).filter((chat) => named.has(refOf(chat)))
            const { box } = yield* accountOf(userId)
            return { chats: chats.map((chat) => chatSeen(chat, userId)), state: stateOf(box.position) }
          })
        ),
      difference: (since: BoxState) => asked(ref, "difference", difference(userId, since)),
      channelDifference: (chat: string, since: number) =>
        asked(ref, "difference", channelDifference(userId, chat, since))
    }
  })

  const newestFirst = (one: ChatDocument, other: ChatDocument) =>
    (other.messages.at(-1)?.at ?? 0) - (one.messages.at(-1)?.at ?? 0) || (one.chatId < other.chatId ? -1 : 1)

  const reader = (ref: SessionRef, userId: string): ChatReader => ({
    chats: (cursor) =>
      asked(
        ref,
        "read_chats",
        Effect.map(chatsOf(userId), (chats) => {
          const sorted = chats.filter((chat) => chat.accounts[userId]?.left !== true).sort(newestFirst)
          const from = cursor === null ? 0 : sorted.findIndex((chat) => refOf(chat) === cursor) + 1
          const page = sorted.slice(from, from + chatsPerPage)
          const last = page.at(-1)
          return {
            chats: page.map((chat) => chatSeen(chat, userId)),
            next: last !== undefined && from + page.length < sorted.length ? refOf(last) : null,
            total: sorted.length
          }
        })
      ),
    history: (chatRef, below, limit) =>
      asked(
        ref,
        "read_history",
        Effect.map(chatAt(userId, chatRef), (chat) => {
          const visible = visibleTo(chat, userId)
          const page = visible.filter(({ id }) => below === null || BigInt(id) < below).slice(-limit).toReversed()
          return { messages: page.map((message) => messageSeen(chat, message, userId)), total: visible.length }
        })
      ),
    messages: (chatRef, ids) =>
      asked(
        ref,
        "read_history",
        Effect.map(chatAt(userId, chatRef), (chat) =>
          visibleTo(chat, userId)
            .filter(({ id }) => ids.includes(BigInt(id)))
            .map((message) => messageSeen(chat, message, userId)))
      ),
    members: (chatRef) =>
      asked(
        ref,
        "read_history",
        Effect.map(chatAt(userId, chatRef), ({ members }) => ({
          members: members.map((member) => ({
            ...member,
            phone: null,
            joined_at: null,
            last_seen_in_chat_at: null
          })),
          next: null
        }))
      ),
    visibleFrom: (chatRef) =>
      asked(
        ref,
        "read_history",
        Effect.map(chatAt(userId, chatRef), ({ accounts }) => BigInt(accounts[userId]?.visibleFrom ?? 1))
      ),
    file: (location, from) =>
      Stream.unwrap(Effect.gen(function*() {
        const chats = yield* asked(ref, "read_file", chatsOf(userId))
        const file = chats.flatMap((chat) => visibleTo(chat, userId)).flatMap(({ files }) => files).find((one) =>
          one.messengerFile === location
        )
        if (file === undefined) return yield* new FileGone()
        return Stream.make(new Uint8Array(Buffer.from(file.content, "base64").subarray(from)))
      }))
  })

  return {
    feed,
    read: (ref, slot) => Effect.map(Effect.andThen(open(ref, slot), userOf(ref)), (userId) => reader(ref, userId))
  }
}
