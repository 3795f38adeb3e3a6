/** What every implementation of MessengerArchive keeps of what is pushed, and of the differences of boxes. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { ChatOf } from "../../../../src/layers/messenger/simulated/SimulatedChats.ts"
import type {
  BoxState,
  ChatChange,
  ChatFeed,
  ChatReader,
  MessagePage,
  MessageSeen
} from "../../../../src/ports/messenger/MessengerArchive.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { drawnOf } from "../../../support/capture/drawnNumbers.ts"
import {
  arrangedChats,
  type ChatsHarness,
  type Contents,
  contentsOf,
  everyChat,
  textsOf,
  withChanges
} from "./chatsHarness.ts"

const sequences = [1, 2]
const deedsPerSequence = 20

/** The changes since a state of the common box, over all its answers. */
const sinceState = Effect.fnUntraced(function*(feed: ChatFeed, state: BoxState) {
  const changes: Array<ChatChange> = []
  for (let [at, more] = [state, true]; more;) {
    const found = yield* feed.difference(at)
    if (found._tag === "TooLong") return yield* Effect.die(new Error("The difference is too long"))
    changes.push(...found.changes)
    at = found.state
    more = found.more
  }
  return changes
})

const sincePosition = Effect.fnUntraced(function*(feed: ChatFeed, ref: string, position: number) {
  const changes: Array<ChatChange> = []
  for (let [at, more] = [position, true]; more;) {
    const found = yield* feed.channelDifference(ref, at)
    if (found._tag === "TooLong") return yield* Effect.die(new Error("The difference is too long"))
    changes.push(...found.changes)
    at = found.position
    more = found.more
  }
  return changes
})

/** The history, read in pages of some size. */
const wholeHistory = Effect.fnUntraced(function*(reader: ChatReader, ref: string, size: number) {
  const found: Array<MessageSeen> = []
  for (let below: bigint | null = null;;) {
    const { messages: page }: MessagePage = yield* reader.history(ref, below, size)
    found.push(...page)
    const lowest = page.at(-1)
    if (lowest === undefined) return found
    assert.isTrue(below === null || lowest.record.id < below)
    below = lowest.record.id
  }
})

export const feedsContract = <R, E>(name: string, harness: ChatsHarness<R, E>): void => {
  const arrange = arrangedChats(harness.world)

  layer(harness.layer)(name, (it) => {
    describe("pushes", () => {
      it.effect("have the content of each change, and take each box on without a gap", () =>
        Effect.gen(function*() {
          const { chats, feed, join, next, say, seen } = yield* arrange()
          const common = yield* join("private")
          const own = yield* join("group")
          yield* say(own.where, "first")
          const before = { common: (yield* feed.state).position, own: (yield* seen(own.chat.chatId)).position ?? 0 }
          yield* next(1)
          for (const { where } of [common, own]) {
            const id = yield* say(where, "sent")
            // Two edits in one second are two contents.
            yield* chats.edit(where, id, "edited once")
            yield* chats.edit(where, id, "edited twice")
            yield* chats.remove(where, [id])
            const pushed = yield* next(4)
            const at = where.shared ? before.own : before.common
            assert.deepStrictEqual(
              pushed.map(({ box, count, position }) => [box, position - at, count]),
              [1, 2, 3, 4].map(
                (n) => [where.shared ? where.chatId : "common", n, 1]
              )
            )
            const contents = pushed.map(({ change }) =>
              "message" in change ? [change._tag, change.message.chatId, change.message.record.text] : change
            )
            assert.deepStrictEqual(contents, [
              ["New", where.chatId, "sent"],
              ["Edited", where.chatId, "edited once"],
              ["Edited", where.chatId, "edited twice"],
              { _tag: "Deleted", chatId: where.shared ? where.chatId : null, ids: [id] }
            ])
          }
          const { state } = yield* feed.peers([])
          assert.strictEqual(state.position, before.common + 4)
        }))

      it.effect("that are lost show as a gap, and the difference has what they had", () =>
        Effect.gen(function*() {
          const { chats, feed, join, next, say, userId } = yield* arrange()
          const { where } = yield* join("private")
          const state = yield* feed.state
          yield* chats.losePushes(userId, 1)
          yield* say(where, "lost")
          yield* say(where, "heard")
          const [push] = yield* next(1)
          assert.deepInclude(push, { position: state.position + 2, count: 1 })
          const contents = withChanges(new Map(), yield* sinceState(feed, state))
          assert.deepStrictEqual([...contents.values()], ["lost", "heard"])
        }))

      it.effect("come over the session's own connection, also where others have read last", () =>
        Effect.gen(function*() {
          const { join, next, reader, say, seen } = yield* arrange()
          const { chat, where } = yield* join("private")
          yield* reader.history((yield* seen(chat.chatId)).ref, null, 10)
          const id = yield* say(where, "after reading")
          const [push] = yield* next(1)
          assert.deepInclude(push?.change, { _tag: "New" })
          assert.strictEqual(push?.change._tag === "New" ? push.change.message.record.id : null, id)
        }))

      it.effect("end with the session, as its own connection finds it ended", () =>
        Effect.gen(function*() {
          const { feed, heard, join, say, sessionRef, userId, world } = yield* arrange()
          const session = yield* (yield* MessengerSession).open(sessionRef)
          const { where } = yield* join("private")
          const texts = yield* Effect.forkScoped(Stream.runCollect(Stream.fromQueue(heard)))
          yield* say(where, "the last one")
          yield* feed.state
          yield* world.revokeService(userId)
          assert.strictEqual((yield* Effect.flip(session.profile))._tag, "NoSession")
          assert.isNotEmpty(yield* Fiber.join(texts))
        }), 5000)
    })

    describe("differences", () => {
      it.effect("leave out what is gone, and have each message once as it is now", () =>
        Effect.gen(function*() {
          const { chats, feed, join, say, seen } = yield* arrange()
          for (const kind of ["private", "group"] as const) {
            const { chat, where } = yield* join(kind)
            const kept = yield* say(where, "kept")
            const { position, ref } = yield* seen(chat.chatId)
            const state = yield* feed.state
            const gone = yield* say(where, "gone")
            const sent = yield* say(where, "sent")
            yield* chats.edit(where, kept, "edited")
            yield* chats.edit(where, sent, "sent and edited")
            yield* chats.remove(where, [gone])
            const changes = chat.shared
              ? yield* sincePosition(feed, ref, position ?? 0)
              : yield* sinceState(feed, state)
            const messages = changes.flatMap((change) => "message" in change ? [change.message] : [])
            assert.sameMembers([...textsOf(messages)], ["edited", "sent and edited"])
            const deleted = changes.filter(({ _tag }) => _tag === "Deleted")
            assert.deepStrictEqual(deleted, [
              { _tag: "Deleted", chatId: chat.shared ? chat.chatId : null, ids: [gone] }
            ])
          }
        }))

      it.effect("come in slices, each with its own state", () =>
        Effect.gen(function*() {
          const { feed, join, say, seen } = yield* arrange()
          const common = yield* join("private")
          const own = yield* join("group")
          yield* say(own.where, "first")
          const { position, ref } = yield* seen(own.chat.chatId)
          const state = yield* feed.state
          for (const { where } of [common, own]) {
            for (let n = 0; n < 150; n++) yield* say(where, `word ${n}`)
          }
          assert.deepInclude(yield* feed.difference(state), { _tag: "Since", more: true })
          assert.lengthOf(yield* sinceState(feed, state), 150)
          assert.deepInclude(yield* feed.channelDifference(ref, position ?? 0), { _tag: "Since", more: true })
          assert.lengthOf(yield* sincePosition(feed, ref, position ?? 0), 150)
          assert.deepInclude(yield* feed.difference(yield* feed.state), { changes: [], more: false })
        }))

      it.effect("are too long where the box has forgotten, and say where it is now", () =>
        Effect.gen(function*() {
          const { chats, feed, join, say, seen } = yield* arrange()
          const common = yield* join("private")
          const own = yield* join("group")
          const state = yield* feed.state
          for (const { where } of [common, own]) {
            yield* say(where, "one")
            yield* say(where, "two")
          }
          const { position, ref } = yield* seen(own.chat.chatId)
          for (const { where } of [common, own]) yield* chats.forgetLog(where)
          const tooLong = yield* feed.difference(state)
          assert.strictEqual(tooLong._tag, "TooLong")
          assert.strictEqual(tooLong.state.position, (yield* feed.state).position)
          const found = yield* feed.channelDifference(ref, (position ?? 0) - 1)
          if (found._tag !== "TooLong") return assert.fail("It is not too long")
          assert.deepInclude(found.chat, { chatId: own.chat.chatId, position })
          assert.sameMembers([...textsOf(found.messages)], ["one", "two"])
        }))

      it.effect("of a group that the account has left are refused", () =>
        Effect.gen(function*() {
          const { chats, feed, join, say, seen } = yield* arrange()
          const { chat, where } = yield* join("group")
          yield* say(where, "one")
          const { position, ref } = yield* seen(chat.chatId)
          yield* chats.leave(where)
          const refused = yield* Effect.flip(feed.channelDifference(ref, position ?? 0))
          assert.deepInclude(refused, { _tag: "ChatRefused", reason: "left" })
        }))
    })

    it.effect("what is pushed, the differences from any moment on, and the history agree, whatever happens in the chats", () =>
      Effect.forEach(sequences, (seed) =>
        Effect.gen(function*() {
          const drawn = drawnOf(seed)
          const { chats, feed, join, next, reader, say } = yield* arrange()
          const places: Array<ChatOf> = []
          for (const kind of ["private", "basic", "group", "channel"] as const) {
            const { where } = yield* join(kind)
            yield* say(where, "first")
            places.push(where)
          }
          yield* next(places.length)
          const now = Effect.gen(function*() {
            const own = new Map<bigint, { readonly position: number; readonly ref: string }>()
            const messages: Array<MessageSeen> = []
            for (const { chatId, position, ref } of yield* everyChat(reader)) {
              if (position !== null) own.set(chatId, { position, ref })
              messages.push(...yield* wholeHistory(reader, ref, drawn.between(2, 9)))
            }
            return { contents: contentsOf(messages), own, state: yield* feed.state }
          })
          const moments = [yield* now]
          const ids = new Map<ChatOf, Array<bigint>>()
          const deed = Effect.gen(function*() {
            const where = drawn.oneOf(places)
            if (where === null) return
            const there = ids.get(where) ?? []
            ids.set(where, there)
            const draw = drawn.next()
            const id = drawn.oneOf(there)
            if (id === null || draw < 0.5) there.push(yield* say(where, `word ${drawn.next()}`))
            else if (draw < 0.8) yield* chats.edit(where, id, `edit ${drawn.next()}`)
            else {
              ids.set(where, there.filter((one) => one !== id))
              yield* chats.remove(where, [id])
            }
          })
          for (let n = 1; n <= deedsPerSequence; n++) {
            yield* deed
            if (n === 10) moments.push(yield* now)
          }
          const sorted = (contents: Contents) => [...contents].sort(([one], [other]) => one < other ? -1 : 1)
          const end = yield* now
          const pushed = (yield* next(deedsPerSequence)).map(({ change }) => change)
          const [first] = moments
          assert.deepStrictEqual(sorted(withChanges(first?.contents ?? new Map(), pushed)), sorted(end.contents))
          for (const { contents, own, state } of moments) {
            const changes = [...yield* sinceState(feed, state)]
            for (const { position, ref } of own.values()) changes.push(...yield* sincePosition(feed, ref, position))
            assert.deepStrictEqual(sorted(withChanges(contents, changes)), sorted(end.contents))
          }
        }).pipe(Effect.scoped), { discard: true }))
  })
}
