/** What every implementation of MessengerArchive keeps of chats and histories that are read. */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { arrangedChats, type ChatsHarness, everyChat, grace, kinds, textsOf } from "./chatsHarness.ts"
import { tagOf } from "./harness.ts"

const mebibyte = 1024 * 1024
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

export const chatsContract = <R, E>(name: string, harness: ChatsHarness<R, E>): void => {
  const arrange = arrangedChats(harness.world)

  layer(harness.layer)(name, (it) => {
    describe("chats", () => {
      it.effect("are answered with what is known of them, and with the position of their own box", () =>
        Effect.gen(function*() {
          const { join, say, seen } = yield* arrange()
          const now = yield* Clock.currentTimeMillis
          for (const kind of ["private", "basic", "group", "channel"] as const) {
            const { chat, where } = yield* join(kind)
            const id = yield* say(where, "hello")
            const { position, ref, ...found } = yield* seen(chat.chatId)
            assert.notStrictEqual(ref, "")
            assert.strictEqual(position === null, !chat.shared)
            assert.deepStrictEqual(found, {
              chatId: chat.chatId,
              type: chat.type,
              title: chat.title,
              username: chat.username ?? null,
              members: chat.type === "private" ? null : chat.members.length,
              protected: chat.protected ?? false,
              joinedAt: chat.shared ? new Date(now) : null,
              left: false,
              migratedTo: null,
              topId: id
            })
          }
        }))

      it.effect("of all pages and folders are answered once each, also where ids of their messages coincide", () =>
        Effect.gen(function*() {
          const { chats, reader, say, userId } = yield* arrange()
          const all = Array.from({ length: 130 }, (_, place) => -1_000_000_100_000n - BigInt(place))
          for (const [place, chatId] of all.entries()) {
            const title = place % 40 === 0 ? `Archived ${place}` : `Chat ${place}`
            yield* chats.join(userId, { ...kinds.group, chatId, title })
            yield* say({ userId, chatId, shared: true }, "first")
          }
          const found = yield* everyChat(reader)
          assert.sameMembers(found.map(({ chatId }) => chatId), all)
          const first = yield* reader.chats(null)
          assert.isAtMost(first.chats.length, 100)
          // Meanwhile one chat of the first page and one of the second go to the top.
          const seenFirst = new Set(first.chats.map(({ chatId }) => chatId))
          const moved = [all.find((chatId) => seenFirst.has(chatId)), all.find((chatId) => !seenFirst.has(chatId))]
          yield* harness.pass("1 second")
          for (const chatId of moved) if (chatId !== undefined) yield* say({ userId, chatId, shared: true }, "again")
          const rest = new Set(seenFirst)
          for (let cursor = first.next; cursor !== null;) {
            const page: typeof first = yield* reader.chats(cursor)
            for (const { chatId } of page.chats) rest.add(chatId)
            cursor = page.next
          }
          for (const chatId of all) assert.isTrue(rest.has(chatId) || moved.includes(chatId), String(chatId))
        }))

      it.effect("are answered by their references as they are now, with the common state", () =>
        Effect.gen(function*() {
          const { feed, join, say, seen } = yield* arrange()
          const { chat, where } = yield* join("group")
          const other = yield* join("private")
          yield* say(where, "one")
          const before = yield* seen(chat.chatId)
          const { ref } = yield* seen(other.chat.chatId)
          const id = yield* say(where, "two")
          yield* say(other.where, "three")
          const { chats, state } = yield* feed.peers([before.ref, ref])
          const found = chats.find(({ chatId }) => chatId === chat.chatId)
          assert.lengthOf(chats, 2)
          assert.strictEqual(found?.topId, id)
          assert.strictEqual(found?.position, (before.position ?? 0) + 1)
          assert.strictEqual(state.position, (yield* feed.state).position)
        }))

      it.effect("that became another one name it", () =>
        Effect.gen(function*() {
          const { chats, join, reader, say, seen } = yield* arrange()
          const { chat, where } = yield* join("basic")
          yield* say(where, "before")
          const into = chat.chatId - 1_000_000_800_000n
          yield* chats.migrate(where, into)
          const before = yield* seen(chat.chatId)
          assert.strictEqual(before.migratedTo, into)
          assert.deepStrictEqual((yield* seen(into)).migratedTo, null)
          const { messages: [service, message] } = yield* reader.history(before.ref, null, 10)
          assert.deepInclude(service?.record, { kind: "service", details: { service: "ChatMigrateTo" } })
          assert.strictEqual(message?.record.text, "before")
        }))

      it.effect("have members with their roles", () =>
        Effect.gen(function*() {
          const { join, reader, say, seen } = yield* arrange()
          for (const kind of ["basic", "group", "channel"] as const) {
            const { chat, where } = yield* join(kind)
            yield* say(where, "hello")
            const { members, next } = yield* reader.members((yield* seen(chat.chatId)).ref, null)
            assert.isNull(next)
            assert.deepStrictEqual(
              members.map(({ id, name, role, username }) => ({ id, name, username, role })),
              [...chat.members]
            )
          }
        }))
    })

    describe("a history", () => {
      it.effect("is answered newest first, below an id and in pages", () =>
        Effect.gen(function*() {
          const { join, reader, say, seen } = yield* arrange()
          for (const kind of ["private", "basic", "group", "channel"] as const) {
            const { chat, where } = yield* join(kind)
            const ids: Array<bigint> = []
            for (let n = 1; n <= 5; n++) ids.push(yield* say(where, `word ${n}`))
            const { ref } = yield* seen(chat.chatId)
            assert.deepStrictEqual(textsOf((yield* reader.history(ref, null, 3)).messages), [
              "word 5",
              "word 4",
              "word 3"
            ])
            assert.deepStrictEqual(textsOf((yield* reader.history(ref, ids[2] ?? null, 3)).messages), [
              "word 2",
              "word 1"
            ])
            assert.deepStrictEqual(yield* reader.history(ref, ids[0] ?? null, 3), { messages: [], total: 5 })
          }
        }))

      it.effect("has messages as they are now, with their senders and times, and without those that are gone", () =>
        Effect.gen(function*() {
          const { chats, join, reader, say, seen, userId } = yield* arrange()
          const { chat, where } = yield* join("group")
          const sent = Math.floor((yield* Clock.currentTimeMillis) / 1000)
          const first = yield* say(where, "first")
          const gone = yield* say(where, "gone")
          const ours = yield* chats.send(where, { from: { id: userId, name: "Jane", username: null }, text: "ours" })
          yield* harness.pass("2 seconds")
          yield* chats.edit(where, first, "edited")
          yield* chats.remove(where, [gone])
          const { ref } = yield* seen(chat.chatId)
          const { messages: [newest, oldest] } = yield* reader.history(ref, null, 100)
          assert.deepStrictEqual(oldest, {
            chatId: chat.chatId,
            record: {
              id: first,
              at: sent,
              from: grace,
              kind: "text",
              text: "edited",
              details: { edited_at: sent + 2 }
            },
            editHidden: false,
            expiresAt: null,
            files: []
          })
          assert.deepInclude(newest?.record, { id: ours, text: "ours", details: { outgoing: true } })
          assert.deepStrictEqual(textsOf(yield* reader.messages(ref, [first, gone, 999n])), ["edited"])
        }))

      it.effect("has a half character only as its replacement", () =>
        Effect.gen(function*() {
          const { join, reader, say, seen } = yield* arrange()
          const { chat, where } = yield* join("private")
          yield* say(where, "a\ud800b")
          assert.deepStrictEqual(textsOf((yield* reader.history((yield* seen(chat.chatId)).ref, null, 1)).messages), [
            "a\ufffdb"
          ])
        }))

      it.effect("has a message until its time has run out", () =>
        Effect.gen(function*() {
          const { chats, join, reader, say, seen } = yield* arrange()
          const { chat, where } = yield* join("private")
          yield* say(where, "stays")
          const expiresAt = new Date((yield* Clock.currentTimeMillis) + 60_000)
          yield* chats.send(where, { from: grace, text: "disappears", expiresAt })
          const { ref } = yield* seen(chat.chatId)
          const { messages: [message] } = yield* reader.history(ref, null, 10)
          assert.deepStrictEqual(message?.expiresAt, expiresAt)
          yield* harness.pass("1 minute")
          assert.deepStrictEqual(textsOf((yield* reader.history(ref, null, 10)).messages), ["stays"])
        }))

      it.effect("that is hidden from the account begins where it joined, and may be shown later", () =>
        Effect.gen(function*() {
          const { chats, join, reader, say, seen, userId } = yield* arrange()
          const { chat, where } = yield* join("group")
          yield* say(where, "before")
          const { ref } = yield* seen(chat.chatId)
          assert.strictEqual(yield* reader.visibleFrom(ref), 1n)
          yield* chats.leave(where)
          assert.deepInclude(yield* Effect.flip(reader.history(ref, null, 10)), { _tag: "ChatRefused", reason: "left" })
          assert.notInclude((yield* everyChat(reader)).map(({ chatId }) => chatId), chat.chatId)
          yield* harness.pass("1 second")
          yield* chats.join(userId, chat, { hidden: true })
          const after = yield* say(where, "after")
          assert.deepStrictEqual(textsOf((yield* reader.history(ref, null, 10)).messages), ["after"])
          assert.strictEqual(yield* reader.visibleFrom(ref), after)
          yield* chats.leave(where)
          yield* harness.pass("1 second")
          yield* chats.join(userId, chat)
          assert.deepStrictEqual((yield* seen(chat.chatId)).joinedAt, new Date(yield* Clock.currentTimeMillis))
          assert.deepStrictEqual(textsOf((yield* reader.history(ref, null, 10)).messages), ["after", "before"])
          assert.strictEqual(yield* reader.visibleFrom(ref), 1n)
        }))
    })

    describe("calls", () => {
      it.effect("wait where the platform asks to, each method for itself", () =>
        Effect.gen(function*() {
          const { feed, join, reader, say, seen, userId, world } = yield* arrange()
          const { chat, where } = yield* join("group")
          const id = yield* say(where, "hello")
          const { position, ref } = yield* seen(chat.chatId)
          const state = yield* feed.state
          const calls = [
            ["read_chats", Effect.asVoid(reader.chats(null))],
            ["read_chats", Effect.asVoid(feed.peers([ref]))],
            ["read_history", Effect.asVoid(reader.history(ref, null, 1))],
            ["read_history", Effect.asVoid(reader.messages(ref, [id]))],
            ["read_history", Effect.asVoid(reader.members(ref, null))],
            ["difference", Effect.asVoid(feed.difference(state))],
            ["difference", Effect.asVoid(feed.channelDifference(ref, position ?? 0))]
          ] as const
          for (const [operation, call] of calls) {
            yield* world.script({ userId, operation, answer: { _tag: "Busy", seconds: 7 } })
            assert.deepInclude(yield* Effect.flip(call), { _tag: "PlatformBusy", retryAfterSeconds: 7 })
            for (const [, other] of calls) yield* other
          }
        }))

      it.effect("of a session that has ended are refused", () =>
        Effect.gen(function*() {
          const { feed, join, reader, say, seen, userId, world } = yield* arrange()
          const { chat, where } = yield* join("private")
          yield* say(where, "hello")
          const { ref } = yield* seen(chat.chatId)
          yield* world.revokeService(userId)
          assert.strictEqual(yield* tagOf(reader.history(ref, null, 1)), "NoSession")
          assert.strictEqual(yield* tagOf(feed.state), "NoSession")
        }))
    })

    describe("files", () => {
      it.effect("are whole, of every size and from every part on, until their message is gone", () =>
        Effect.gen(function*() {
          const { chats, join, reader, seen } = yield* arrange()
          const { chat, where } = yield* join("private")
          for (const bytes of [0, 1, mebibyte, mebibyte + 1]) {
            const name = `of ${bytes}`
            const content = Buffer.alloc(bytes, name)
            const files = [{
              messengerFile: name,
              name,
              mimeType: "application/pdf",
              content: content.toString("base64")
            }]
            const id = yield* chats.send(where, { from: grace, text: null, kind: "document", files })
            const [message] = yield* reader.messages((yield* seen(chat.chatId)).ref, [id])
            const [file] = message?.files ?? []
            if (file === undefined) return assert.fail("The message has no file")
            assert.deepInclude(file, { name, mimeType: "application/pdf", bytes, once: false })
            const read = (from: number) =>
              Effect.map(Stream.runCollect(reader.file(file.location, from)), (parts) => Buffer.concat([...parts]))
            assert.strictEqual(digest(yield* read(0)), digest(content))
            if (bytes > mebibyte) assert.strictEqual(digest(yield* read(mebibyte)), digest(content.subarray(mebibyte)))
            yield* chats.remove(where, [id])
            assert.strictEqual(yield* tagOf(read(0)), "FileGone")
          }
        }))
    })
  })
}
