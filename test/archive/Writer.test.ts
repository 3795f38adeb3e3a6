import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { findChats, listMembers } from "../../src/archive/ChatReader.ts"
import { makeKeyPair } from "../../src/archive/KeyWraps.ts"
import { findMessage, listEdits, listMessages, type MessageQuery } from "../../src/archive/Reader.ts"
import * as Archives from "../support/archive/archives.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { chat, chatId, commit, newest, seen } = Archives

/** The rows of the account in a table. */
const rowsOf = (archive: Archives.Archive, table: string) =>
  World.query<Record<string, any>>(
    archive.account.organizationId,
    (sql) => sql`select * from ${sql(table)} where account_id = ${archive.account.accountId}`
  )

const listed = (archive: Archives.Archive, query: Partial<MessageQuery> = {}) =>
  Effect.flatMap(Archives.open(archive), (open) => listMessages(open, { ...newest, ...query }))

describe("the archive's writer", () => {
  forEachDatabase((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("seals a sweep's messages in pages of a day and of a hundred, which the password opens", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const messages = Array.from({ length: 150 }, (_, n) => seen(n + 1, 500 - n, `text ${n + 1}`))
          const old = seen(0, 90_000, "yesterday")
          yield* commit(archive, writer.see(chat))
          const added = yield* commit(archive, writer.append(chatId, [...messages, old], "sweep"))
          expect(added).toHaveLength(151)
          const pages = (yield* rowsOf(archive, "archive_page")).filter(({ kind }) => kind === "messages")
          expect(pages.map(({ messages }) => messages).sort()).toEqual([1, 100, 50])
          const first = yield* listed(archive)
          expect(first.messages.map(({ text }) => text)).toEqual(
            messages.slice(100).toReversed().map(({ text }) => text)
          )
          expect(first).toMatchObject({ hasMore: true, next: 101n, unreadable: 0 })
          const last = yield* listed(archive, { bound: 2n })
          expect(last.messages.map(({ text }) => text)).toEqual(["text 1", "yesterday"])
          expect(last).toMatchObject({ hasMore: false, next: null })
        }))

      it.effect("stores a message once, and another revision of it for another edit date", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          const at = Archives.beginning / 1000
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "first")], "live"))
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "second", { edited_at: at - 50 })], "live"))
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "fourth", { edited_at: at - 30 })], "sweep"))
          const repeated = [
            seen(1, 60, "third, late", { edited_at: at - 40 }),
            seen(1, 60, "fourth", { edited_at: at - 30 })
          ]
          expect(yield* commit(archive, writer.append(chatId, repeated, "live"))).toEqual([])
          const list = yield* listed(archive)
          expect(list.messages).toMatchObject([{ text: "fourth", edits: 3, edited_at: new Date((at - 30) * 1000) }])
          const revisions = yield* Effect.flatMap(Archives.open(archive), (open) => listEdits(open, chatId, 1n))
          expect(revisions?.revisions.map(({ revision, text }) => [revision, text])).toEqual([
            [0, "first"],
            [1, "second"],
            [2, "third, late"],
            [3, "fourth"]
          ])
        }))

      it.effect("shows the newest of two edits of one second, though a page had it before the older one was pushed", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const edited_at = Archives.beginning / 1000 - 50
          const [older, newer] = [seen(1, 60, "older", { edited_at }), seen(1, 60, "newer", { edited_at })]
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "sent")], "live"))
          yield* commit(archive, writer.append(chatId, [newer], "sweep"))
          yield* commit(archive, writer.append(chatId, [older], "live"))
          yield* commit(archive, writer.append(chatId, [newer], "live"))
          yield* commit(archive, writer.append(chatId, [newer], "sweep"))
          yield* commit(archive, writer.append(chatId, [older], "live", "late"))
          const shown = Effect.gen(function*() {
            expect((yield* listed(archive)).messages).toMatchObject([{ text: "newer", edits: 3 }])
            const all = yield* Effect.flatMap(Archives.open(archive), (open) => listEdits(open, chatId, 1n))
            expect(all?.revisions.map(({ text }) => text)).toEqual(["sent", "newer", "older", "newer"])
          })
          yield* shown
          yield* writer.close("all")
          yield* shown
        }))

      it.effect("takes no change of reactions for a revision", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const edited_at = Archives.beginning / 1000 - 50
          const withReactions = (count: number) =>
            seen(1, 60, "edited", { edited_at, reactions: [{ emoji: "👍", count }] })
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [withReactions(1)], "live"))
          yield* commit(archive, writer.append(chatId, [withReactions(2)], "sweep"))
          expect((yield* listed(archive)).messages).toMatchObject([{ text: "edited", edits: 0 }])
        }))

      it.effect("knows a message that was edited before it was first seen by its edit date", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const edited = seen(1, 60, "edited", { edited_at: 1_700_000_000 })
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [edited], "sweep"))
          yield* commit(archive, writer.append(chatId, [edited], "live"))
          expect((yield* listed(archive)).messages).toMatchObject([
            { text: "edited", edits: 0, edited_at: new Date(1_700_000_000_000) }
          ])
        }))

      it.effect("keeps what was deleted, and says since when; a message that is not archived is not marked", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "kept"), seen(2, 59, "gone")], "sweep"))
          yield* commit(archive, writer.mark(chatId, [2n, 3n], "deleted", "live"))
          yield* TestClock.adjust("1 hour")
          yield* commit(archive, writer.mark(chatId, [2n], "absent", "sweep"))
          expect(yield* rowsOf(archive, "archive_change")).toHaveLength(1)
          const { messages } = yield* listed(archive)
          expect(messages.map(({ deleted_at, text }) => [text, deleted_at])).toEqual([
            ["gone", new Date(Archives.beginning)],
            ["kept", null]
          ])
          expect((yield* listed(archive, { deleted: true })).messages.map(({ text }) => text)).toEqual(["gone"])
          expect((yield* listed(archive, { deleted: false })).messages.map(({ text }) => text)).toEqual(["kept"])
        }).pipe(Effect.scoped))

      it.effect("closes a full tail at once, a day's ten minutes after it, and the rest when it ends", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const scope = yield* Scope.make()
          const writer = yield* Effect.provideService(Archives.write(archive), Scope.Scope, scope)
          const tail = Effect.map(rowsOf(archive, "archive_tail"), (rows) => rows.length)
          yield* commit(archive, writer.see(chat))
          const many = Array.from({ length: 120 }, (_, n) => seen(n + 1, 500 - n, `text ${n + 1}`))
          yield* commit(archive, writer.append(chatId, many, "live"))
          yield* writer.close("due")
          expect(yield* tail).toBe(20)
          yield* TestClock.adjust("12 hours")
          yield* TestClock.adjust("9 minutes")
          yield* writer.close("due")
          expect(yield* tail).toBe(20)
          yield* TestClock.adjust("2 minutes")
          yield* writer.close("due")
          expect(yield* tail).toBe(0)
          yield* commit(archive, writer.append(chatId, [seen(121, -40_000, "late")], "live"))
          expect(yield* tail).toBe(1)
          yield* Scope.close(scope, Exit.void)
          expect(yield* tail).toBe(0)
          expect((yield* rowsOf(archive, "archive_epoch")).filter(({ closed_at }) => closed_at === null)).toEqual([])
          const { messages } = yield* listed(archive, { limit: 200 })
          expect(messages.map(({ text }) => text)).toEqual(["late", ...many.map(({ text }) => text).toReversed()])
        }))

      it.effect("leaves the tail alone while a cleanup of the account is previewed", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const { accountId, organizationId } = archive.account
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "text")], "live"))
          yield* World.query(organizationId, (sql) =>
            sql`insert into archive_cleanup (organization_id, id, state, account_ids, media_only, stop_saving, pages,
                messages, files, bytes, chats, watermark, created_by, created_at)
              values (${organizationId}, ${accountId}, 'previewed', array[${accountId}]::uuid[], false, false, 0, 0, 0, 0, 0,
                '{}', ${accountId}, ${new Date(0)})`)
          yield* writer.close("all")
          expect(yield* rowsOf(archive, "archive_tail")).toHaveLength(1)
          yield* World.query(organizationId, (sql) =>
            sql`update archive_cleanup set state = 'cancelled'`)
          yield* writer.close("all")
          expect(yield* rowsOf(archive, "archive_tail")).toHaveLength(0)
        }).pipe(Effect.scoped))

      it.effect("a writer that takes over packs the tail that the one before left, and that one writes nothing more", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const before = yield* Archives.write(archive)
          yield* commit(archive, before.see(chat))
          yield* commit(archive, before.append(chatId, [seen(1, 60, "one"), seen(2, 50, "two")], "live"))
          yield* commit(archive, before.mark(chatId, [1n], "deleted", "live"))
          const after = yield* Archives.write(archive)
          expect(yield* rowsOf(archive, "archive_tail")).toEqual([])
          const refused = yield* Effect.flip(commit(archive, before.append(chatId, [seen(3, 40, "three")], "live")))
          expect(refused._tag).toBe("WriterReplaced")
          yield* commit(archive, after.append(chatId, [seen(4, 30, "four")], "live"))
          const { messages } = yield* listed(archive)
          expect(messages.map(({ deleted_at, text }) => [text, deleted_at === null])).toEqual([
            ["four", true],
            ["two", true],
            ["one", false]
          ])
        }).pipe(Effect.scoped))

      it.effect("begins another epoch after a week, and for another key", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [seen(1, 60, "old")], "live"))
          yield* writer.renew(archive.key)
          expect(yield* rowsOf(archive, "archive_epoch")).toHaveLength(1)
          yield* TestClock.adjust("7 days")
          yield* writer.renew(archive.key)
          expect(yield* rowsOf(archive, "archive_epoch")).toHaveLength(2)
          expect(yield* rowsOf(archive, "archive_tail")).toEqual([])
          const key = yield* makeKeyPair
          yield* writer.renew(key)
          yield* commit(archive, writer.append(chatId, [seen(2, 50, "new")], "live"))
          const { messages, unreadable } = yield* listed(archive)
          expect([messages.map(({ text }) => text), unreadable]).toEqual([["old"], 1])
        }).pipe(Effect.scoped))

      it.effect("stores a chat's title and members again only where they differ", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const member = (name: string) => ({
            id: name,
            name,
            username: null,
            phone: null,
            role: "member" as const,
            joined_at: null,
            last_seen_in_chat_at: null
          })
          const see = (title: string, names: ReadonlyArray<string>) =>
            commit(
              archive,
              Effect.andThen(
                writer.see({ ...chat, info: { ...chat.info, title } }),
                writer.setMembers(chatId, names.map(member))
              )
            )
          yield* see("First", ["Zoe", "Ada"])
          yield* TestClock.adjust("1 minute")
          yield* see("First", ["Zoe", "Ada"])
          expect(yield* rowsOf(archive, "archive_page")).toHaveLength(2)
          // The writer does not open again what it has stored.
          yield* World.query(
            archive.account.organizationId,
            (sql) => sql`update archive_page set sealed = '' where account_id = ${archive.account.accountId}`
          )
          yield* see("First", ["Zoe", "Ada"])
          expect(yield* rowsOf(archive, "archive_page")).toHaveLength(2)
          yield* see("Second", ["Ada", "Bob"])
          expect(yield* rowsOf(archive, "archive_page")).toHaveLength(4)
          const open = yield* Archives.open(archive)
          expect(yield* findChats(open, [chatId])).toMatchObject([{ title: "Second", messages: 0 }])
          expect((yield* listMembers(open, chatId))?.members.map(({ name }) => name)).toEqual(["Ada", "Bob"])
        }).pipe(Effect.scoped))

      it.effect("takes the largest ids of the messenger", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          const largest = 2n ** 63n - 1n
          const channel = { ...chat, chatId: -largest }
          yield* commit(archive, writer.see(channel))
          yield* commit(
            archive,
            writer.append(-largest, [seen(largest, 60, "last"), seen(largest - 1n, 61, "one")], "live")
          )
          yield* writer.close("all")
          const open = yield* Archives.open(archive)
          expect(yield* findMessage(open, -largest, largest, 2)).toMatchObject({
            message: { text: "last", chat_id: String(-largest), id: String(largest) },
            context: [{ text: "one" }]
          })
        }).pipe(Effect.scoped))
    })
  })
})
