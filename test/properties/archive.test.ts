import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { findMessage, listMessages } from "../../src/archive/Reader.ts"
import type { AccountArchive } from "../../src/ports/archive/ArchiveWriter.ts"
import * as Archives from "../support/archive/archives.ts"
import { tried } from "../support/drawn.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { beginning, chat, chatId, commit, newest } = Archives

/** Messages are an hour apart, so that 24 of them are a day. */
const atOf = (id: number) => Math.floor(beginning / 1000) - 3600 * (200 - id)

const id = fc.integer({ min: 1, max: 90 })
const path = fc.constantFrom("live" as const, "sweep" as const)

/** What happens to an archive. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      ids: fc.array(id, { maxLength: 20, size: "max" }),
      path
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("edit" as const), id, date: fc.integer({ min: 1, max: 5 }), path })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("delete" as const), ids: fc.array(id, { maxLength: 4 }), path })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("close" as const), which: fc.constantFrom("due", "all") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("takeover" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("roll back" as const), ids: fc.array(id, { maxLength: 5 }), path })
  }
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** A message as it should be read; revisions by their edit date, 0 for the message as sent. */
interface Expected {
  readonly revisions: Set<number>
  deleted: boolean
}
type Model = Map<number, Expected>

const textOf = (id: number, date: number) => date === 0 ? `message ${id}` : `message ${id}, edit ${date}`
const seen = (id: number, date: number) => ({
  ...Archives.seen(id, 0, textOf(id, date), date === 0 ? {} : { edited_at: atOf(id) + date }),
  at: atOf(id)
})

const isAbandoned = "abandoned"

/** Does the step with the archive and with the model. */
const take = Effect.fnUntraced(function*(archive: Archives.Archive, writer: AccountArchive, model: Model, it: Step) {
  switch (it.do) {
    case "append":
      yield* commit(archive, writer.append(chatId, it.ids.map((id) => seen(id, 0)), it.path))
      for (const id of it.ids) {
        const known = model.get(id)
        if (known === undefined) model.set(id, { revisions: new Set([0]), deleted: false })
        else known.revisions.add(0)
      }
      break
    case "edit": {
      yield* commit(archive, writer.append(chatId, [seen(it.id, it.date)], it.path))
      const known = model.get(it.id)
      if (known === undefined) model.set(it.id, { revisions: new Set([it.date]), deleted: false })
      else known.revisions.add(it.date)
      break
    }
    case "delete":
      yield* commit(archive, writer.mark(chatId, it.ids.map(BigInt), "deleted", it.path))
      for (const id of it.ids) {
        const known = model.get(id)
        if (known !== undefined) known.deleted = true
      }
      break
    case "close":
      yield* writer.close(it.which === "all" ? "all" : "due")
      break
    case "roll back": {
      const written = writer.append(chatId, it.ids.map((id) => seen(id, 0)), it.path)
      expect(yield* Effect.flip(commit(archive, Effect.andThen(written, Effect.fail(isAbandoned))))).toBe(isAbandoned)
      break
    }
  }
})

/** The history, by writers that take over from each other without closing; the last one stays. */
const play = Effect.fnUntraced(function*(archive: Archives.Archive, steps: ReadonlyArray<Step>) {
  const model: Model = new Map()
  let writer = yield* Archives.write(archive)
  yield* commit(archive, writer.see(chat))
  for (const it of steps) {
    yield* TestClock.adjust("17 minutes")
    if (it.do !== "takeover") {
      yield* take(archive, writer, model, it)
      continue
    }
    const before = writer
    writer = yield* Archives.write(archive)
    const late = yield* Effect.flip(commit(archive, before.append(chatId, [seen(1, 0)], "live")))
    expect(late._tag).toBe("WriterReplaced")
  }
  return model
})

/** What a list shows of a message of the model. */
const shown = ([id, { deleted, revisions }]: [number, Expected]) => ({
  id: String(id),
  text: textOf(id, Math.max(...revisions)),
  edits: revisions.size - 1,
  deleted
})

const pagesOf = Effect.fnUntraced(function*(archive: Archives.Archive, query: Partial<typeof newest>, limit: number) {
  const found: Array<object> = []
  let bound: bigint | null = null
  while (true) {
    const open = yield* Archives.open(archive)
    const page: Effect.Success<ReturnType<typeof listMessages>> = yield* listMessages(open, {
      ...newest,
      ...query,
      bound,
      limit
    })
    expect(page.unreadable).toBe(0)
    expect(page.messages.length).toBeLessThanOrEqual(limit)
    for (const { deleted_at, edits, id, text } of page.messages) {
      found.push({ id, text, edits, deleted: deleted_at !== null })
    }
    if (!page.hasMore) return found
    bound = page.next
  }
})

/** The counters of the chat and of the account, as they are kept and as they are counted. */
const counters = (archive: Archives.Archive) =>
  World.query<{ kept: unknown; counted: unknown }>(archive.account.organizationId, (sql) => {
    const { accountId } = archive.account
    return sql`
      with stored as (
        select messages::bigint as messages, bytes::bigint as bytes, first_at, last_at, first_id, last_id, kind
        from archive_page where account_id = ${accountId}
        union all
        select case kind when 'messages' then 1 else 0 end, length(sealed), at, at, message_id, message_id, kind
        from archive_tail where account_id = ${accountId}
      ), counted as (
        select coalesce(sum(messages), 0)::text as messages, coalesce(sum(bytes), 0)::text as bytes,
          min(first_at) filter (where kind = 'messages') as first_at, max(last_at) filter (where kind = 'messages') as last_at,
          min(first_id) filter (where kind = 'messages') as first_id, max(last_id) filter (where kind = 'messages') as last_id
        from stored
      )
      select to_jsonb(array[chat.messages::text, chat.bytes::text, chat.first_at::text, chat.last_at::text,
          chat.first_id::text, chat.last_id::text, archive_messages::text, archive_bytes::text]) as kept,
        to_jsonb(array[counted.messages, counted.bytes, counted.first_at::text, counted.last_at::text,
          counted.first_id::text, counted.last_id::text, counted.messages, counted.bytes]) as counted
      from archive_chat as chat join archive_state on archive_state.account_id = chat.account_id cross join counted
      where chat.account_id = ${accountId}`
  })

/** Fewer where statements, the same on both, take longer. */
const histories = { PGlite: 2, PostgreSQL: 8 }

describe("the archive after any history", () => {
  forEachDatabase((name, database) => {
    layer(World.core(database))((it) => {
      it.effect("lists what was written, in both directions, on pages of any size and by every filter; counters are a recount", () =>
        Effect.gen(function*() {
          const { id: organizationId } = yield* World.makeOrganization()
          const { key } = yield* Archives.makeArchive(organizationId)
          const played = fc.sample(
            fc.tuple(fc.array(step, { minLength: 5, maxLength: 30, size: "max" }), fc.integer({ min: 1, max: 7 })),
            tried(histories[name])
          )
          for (const [steps, limit] of played) {
            const archive = yield* Archives.makeArchive(organizationId, key)
            const scope = yield* Scope.make()
            const model = yield* Effect.provideService(play(archive, steps), Scope.Scope, scope)
            const check = Effect.gen(function*() {
              const ascending = [...model].sort(([one], [other]) => one - other)
              const all = ascending.map(shown)
              expect(yield* pagesOf(archive, {}, limit)).toEqual(all.toReversed())
              expect(yield* pagesOf(archive, { direction: "newer" as never }, limit)).toEqual(all)
              const deleted = all.filter((each) => each.deleted).toReversed()
              expect(yield* pagesOf(archive, { deleted: true as never }, limit)).toEqual(deleted)
              const between = { since: new Date(atOf(20) * 1000) as never, until: new Date(atOf(40) * 1000) as never }
              const during = all.filter((each) => Number(each.id) >= 20 && Number(each.id) < 40).toReversed()
              expect(yield* pagesOf(archive, between, limit)).toEqual(during)
              for (const row of yield* counters(archive)) expect(row.kept).toEqual(row.counted)
              for (const [place, { id, text }] of all.entries()) {
                if (place % 5 !== 0) continue
                const found = yield* findMessage(yield* Archives.open(archive), chatId, BigInt(id), 2)
                expect(found).toMatchObject({ message: { text } })
                expect(found?.context.map((each) => each.id)).toEqual(
                  [...all.slice(Math.max(0, place - 2), place), ...all.slice(place + 1, place + 3)].map((each) =>
                    each.id
                  )
                )
              }
            })
            yield* check
            // The last writer closes what it has, and the archive reads the same.
            yield* Scope.close(scope, Exit.void)
            yield* check
          }
        }))

      it.effect("answers no page of another account, under the same key and ids", () =>
        Effect.gen(function*() {
          const own = yield* Archives.makeArchive()
          const other = yield* Archives.makeArchive(own.account.organizationId, own.key)
          for (const [archive, text] of [[own, "own"], [other, "other"]] as const) {
            const writer = yield* Archives.write(archive)
            yield* commit(archive, writer.see(chat))
            yield* commit(archive, writer.append(chatId, [Archives.seen(1, 60, text)], "sweep"))
            yield* commit(archive, writer.append(chatId, [Archives.seen(2, 50, text)], "live"))
          }
          const { messages } = yield* listMessages(yield* Archives.open(own), newest)
          expect(messages.map(({ text }) => text)).toEqual(["own", "own"])
          // Moved by whoever can write the database, they do not open.
          yield* World.query(own.account.organizationId, (sql) =>
            sql`update archive_tail set account_id = ${own.account.accountId}, message_id = message_id + 10
              where account_id = ${other.account.accountId}`)
          const moved = yield* listMessages(yield* Archives.open(own), newest)
          expect([
            moved.messages.map(({ text }) =>
              text
            ),
            moved.unreadable
          ]).toEqual([["own", "own"], 1])
        }).pipe(Effect.scoped))
    })
  })
})
