import { describe, expect, layer } from "@effect/vitest"
import { Effect, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { listEdits, listMessages } from "../../src/archive/Reader.ts"
import * as Archives from "../support/archive/archives.ts"
import { placesOf } from "../support/archive/loosePages.ts"
import { everything, redact } from "../support/archive/redactions.ts"
import { tried } from "../support/drawn.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { chat, chatId, commit, newest } = Archives

const id = fc.integer({ min: 1, max: 25 })
const path = fc.constantFrom("live" as const, "sweep" as const)
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ ids: fc.uniqueArray(id, { minLength: 1, maxLength: 20 }), date: fc.constant(0), path })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ids: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
      date: fc.integer({ min: 1, max: 3 }),
      path
    })
  },
  { weight: 1, arbitrary: fc.constantFrom("close" as const, "takeover" as const) }
)
const history = fc.record({
  steps: fc.array(step, { minLength: 4, maxLength: 14, size: "max" }),
  redacted: fc.uniqueArray(id, { minLength: 1, maxLength: 8 }),
  bytes: fc.constantFrom(1, 2000, 100_000)
})

const word = (id: number, date: number) => `zyx${id}rev${date}qwv`

const seen = (id: number, date: number) =>
  Archives.seen(id, 400_000 - id * 7000, word(id, date), {
    caption: word(id, date),
    forwarded_from: word(id, date),
    contact: [word(id, date)],
    files: [Archives.file(word(id, date))],
    ...(date === 0 ? {} : { edited_at: 1_700_000_000 + date })
  })

/** What a reader is shown of all messages. */
const shown = Effect.fnUntraced(function*(archive: Archives.Archive) {
  const open = yield* Archives.open(archive)
  const { messages, unreadable } = yield* listMessages(open, { ...newest, limit: 100 })
  expect(unreadable).toBe(0)
  return yield* Effect.forEach(messages, (message) =>
    Effect.gen(function*() {
      const edits = yield* listEdits(open, chatId, BigInt(message.id))
      expect(edits?.unreadable).toBe(0)
      return { message, revisions: edits?.revisions.map(({ text }) => text) }
    }))
})

/** The counters of the chat and of the account, and what they count. */
const counters = ({ account: { accountId, organizationId } }: Archives.Archive) =>
  World.query<{ kept: string; counted: string }>(
    organizationId,
    (sql) =>
      sql`
      select concat_ws(' ', messages, bytes, archive_messages, archive_bytes) as kept, concat_ws(' ', n, b, n, b) as counted
      from archive_chat join archive_state using (organization_id, account_id)
      cross join (
        select sum(m) as n, sum(b) as b from (
          select messages::integer as m, bytes as b from archive_page where account_id = ${accountId}
          union all
          select (kind = 'messages')::integer, length(sealed) from archive_tail where account_id = ${accountId}) as rows
      ) as counted
      where account_id = ${accountId}`
  )

describe("redaction after any history", () => {
  layer(World.core(postgres))((it) => {
    it.effect("leaves no word of a redacted message that any key opens, every other message as it was, and archives it no more", () =>
      Effect.gen(function*() {
        const { id: organizationId } = yield* World.makeOrganization()
        const { key } = yield* Archives.makeArchive(organizationId)
        for (const { bytes, redacted, steps } of fc.sample(history, tried(5))) {
          const archive = yield* Archives.makeArchive(organizationId, key)
          const scope = yield* Scope.make()
          let writer = yield* Effect.provideService(Archives.write(archive), Scope.Scope, scope)
          yield* commit(archive, writer.see(chat))
          const there = new Set<number>()
          for (const it of steps) {
            yield* TestClock.adjust("17 minutes")
            if (it === "takeover") writer = yield* Effect.provideService(Archives.write(archive), Scope.Scope, scope)
            else if (it === "close") yield* writer.close("all")
            else {
              for (const id of it.ids) there.add(id)
              yield* commit(archive, writer.append(chatId, it.ids.map((id) => seen(id, it.date)), it.path))
            }
          }
          const ids = redacted.filter((id) => there.has(id))
          if (ids.length === 0) continue
          const before = yield* shown(archive)
          const open = yield* Archives.open(archive)
          const answer = yield* redact(open, chatId, ids, bytes)
          expect(answer).toMatchObject({ messages: ids.length, files: 0 })
          const isAsked = (id: string) => ids.includes(Number(id))
          const after = yield* shown(archive)
          for (const [index, { message, revisions }] of after.entries()) {
            const known = before[index]
            if (!isAsked(message.id)) {
              expect({ message, revisions }).toEqual(known)
              continue
            }
            const { from, sent_at } = message
            expect({ from, sent_at }).toEqual({ from: known?.message.from, sent_at: known?.message.sent_at })
            expect(message).toMatchObject({ text: null, caption: null, forwarded_from: null, files: [] })
            expect(message.redacted_at).toEqual(new Date(1_800_000_000_000))
            expect(revisions).toEqual(known?.revisions?.map(() => null))
          }
          const absent = Effect.map(everything(open), (text) => {
            for (const id of there) {
              const found = [0, 1, 2, 3].filter((date) => text.includes(word(id, date)))
              if (ids.includes(id)) expect([id, found]).toEqual([id, []])
              else expect(found.length).toBeGreaterThan(0)
            }
          })
          yield* absent
          // Repeated, it changes nothing; seen again, or edited, a redacted message stays as it is.
          expect(yield* redact(open, chatId, ids)).toMatchObject({ messages: 0, files: 0, pages: 0 })
          for (const path of ["live", "sweep"] as const) {
            yield* commit(archive, writer.append(chatId, ids.flatMap((id) => [seen(id, 0), seen(id, 3)]), path))
          }
          yield* writer.close("all")
          yield* absent
          expect(yield* shown(archive)).toEqual(after)
          const [counted] = yield* counters(archive)
          expect(counted?.kept).toBe(counted?.counted)
        }
      }))

    it.effect("takes a message out that was edited more than 1,000 times, and nothing where one edit does not open", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const { accountId, organizationId } = archive.account
        const writer = yield* Archives.write(archive)
        const edits = Array.from({ length: 1100 }, (_, nth) => seen(1, nth + 1))
        yield* commit(archive, writer.see(chat))
        yield* commit(archive, writer.append(chatId, [seen(1, 0), seen(2, 0)], "sweep"))
        yield* commit(archive, writer.append(chatId, edits, "live"))
        const open = yield* Archives.open(archive)
        const spoil = World.query(
          organizationId,
          (sql) =>
            sql`update archive_tail set sealed = set_byte(sealed, length(sealed) - 1,
              get_byte(sealed, length(sealed) - 1) # 1)
            where account_id = ${accountId} and tail_id = (
              select max(tail_id) from archive_tail where account_id = ${accountId})`
        )
        yield* spoil
        expect(yield* Effect.flip(redact(open, chatId, [1], 100_000))).toMatchObject({ _tag: "content_unreadable" })
        yield* spoil
        expect(yield* everything(open)).toContain(word(1, 1))
        expect(yield* redact(open, chatId, [1], 100_000)).toMatchObject({ messages: 1, pages: 1 })
        const text = yield* everything(open)
        expect([text.includes("zyx1rev"), text.includes(word(2, 0))]).toEqual([false, true])
      }).pipe(Effect.scoped))

    it.effect("vocabularies that name a rewritten page go, and the other pages are found without them", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const ids = Array.from({ length: 20 }, (_, index) => index + 1)
        const daily = (id: number) => Archives.seen(id, 86_400 * (21 - id), word(id, 0))
        yield* Effect.scoped(Effect.gen(function*() {
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, ids.map(daily), "sweep"))
        }))
        const places = placesOf(archive.account.organizationId)
        expect(yield* places).toEqual({ blocks: [20], loose: 0, misplaced: 0, disordered: 0 })
        const open = yield* Archives.open(archive)
        expect(yield* redact(open, chatId, [7])).toMatchObject({ messages: 1, files: 0, pages: 1 })
        expect(yield* places).toEqual({ blocks: [], loose: 20, misplaced: 0, disordered: 0 })
        const text = yield* everything(open)
        expect(ids.filter((id) => !text.includes(word(id, 0)))).toEqual([7])
      }))

    it.effect("what tells revisions apart is no digest of what they said any more", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const { organizationId } = archive.account
        const marks = World.query<{ length: number; message: string }>(
          organizationId,
          (sql) =>
            sql`select length(mark) as length, message_id::text as message from archive_change
              where organization_id = ${organizationId} and kind <> 'redacted' order by message_id, mark`
        )
        yield* Effect.scoped(Effect.gen(function*() {
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          yield* commit(archive, writer.append(chatId, [1, 2].flatMap((id) => [seen(id, 1), seen(id, 2)]), "sweep"))
        }))
        expect((yield* marks).map(({ length }) => length)).toEqual([16, 16, 16, 16])
        yield* redact(yield* Archives.open(archive), chatId, [1])
        expect((yield* marks).map(({ length }) => length)).toEqual([8, 8, 16, 16])
      }))
  })
})
