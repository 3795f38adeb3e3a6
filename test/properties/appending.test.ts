import { describe, expect, it, layer } from "@effect/vitest"
import canonicalize from "canonicalize"
import { Arbitrary, Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { JournalEntry } from "../../src/domain/journal/JournalEntry.ts"
import { JournalEvent, JournalOutcome } from "../../src/domain/journal/JournalEvent.ts"
import { CredentialKind, OrganizationId, Via } from "../../src/domain/people/Access.ts"
import * as DatabaseClock from "../../src/layers/postgres/DatabaseClock.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { eventHash } from "../../src/layers/sql/journal/JournalRows.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import { drawnOn } from "../support/drawn.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

/** What would take a text apart that is put together of pieces. */
const awkward = [
  "",
  "\"",
  "\\",
  "\",\"at\":\"",
  "\"prev_hash\":\"",
  "\"sequence\":1,",
  "$1 $$ :name %s",
  "\n\r\t\b\f\u001f\u007f\u0080\u2028\u2029\ufeff",
  "é e\u0301 ﬀ 한국어 \u200d👩‍🚀 \u{10ffff}",
  "__proto__"
]
const text = Random.oneOf(
  Random.pickOf(...awkward),
  Arbitrary.filter(Arbitrary.schema(Schema.String), (value) => value.isWellFormed() && !value.includes("\u0000"))
)
/** Once JSON.parse of Node 24 has read the name `\\`, it reads every name of one escaped character as that. */
const name = Arbitrary.filter(text, (value) => !value.includes("\\"))
const orNull = <A>(arbitrary: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<A | null> =>
  Random.oneOf<A | null>(arbitrary, Random.pickOf(null))
const uuid = Random.pickOf("00000000-0000-0000-0000-000000000000", "0198a000-0000-7000-8000-0000000000ff")
const number = Random.oneOf(
  Random.pickOf(0, -1, 0.1, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER),
  Arbitrary.map(Arbitrary.schema(Schema.Finite), (value) => value + 0)
)
const detail = Random.oneOf<string | number | boolean>(text, number, Random.pickOf(true, false))

const entry: Arbitrary.Arbitrary<JournalEntry> = Arbitrary.all({
  action: text,
  outcome: Random.pickOf(...JournalOutcome.literals),
  actor: Arbitrary.all({
    type: Random.pickOf(...JournalEvent.fields.actor.fields.type.literals),
    admin_id: orNull(uuid),
    name: orNull(text)
  }),
  credential: orNull(Arbitrary.all({ kind: Random.pickOf(...CredentialKind.literals), id: text, label: text })),
  via: Random.pickOf(...Via.literals),
  account_id: orNull(uuid),
  target: orNull(Arbitrary.all({ type: text, id: text })),
  details: Arbitrary.map(
    Arbitrary.array(Arbitrary.all({ name, value: detail }), { maxLength: 5 }),
    (members) => Object.fromEntries(members.map(({ name, value }) => [name, value]))
  ),
  ip: orNull(text),
  request_id: orNull(text),
  closes: Random.pickOf(null)
})

const operatorEntry = Fixtures.operatorEntry("organization.set", "")

/** A clock that stands still. */
const clockAt = (millis: number) => DatabaseClock.make(BigInt(millis) * 1_000_000n, () => 0n).clock

const append = (id: string, entry: JournalEntry = operatorEntry, at?: number) => {
  const appended = Effect.flatMap(Journal, (journal) => journal.append(OrganizationId.make(id), entry))
  return Fixtures.within(
    id,
    at === undefined ? appended : Effect.provideService(appended, Clock.Clock, clockAt(at))
  )
}

const begin = (id: string, at: number) =>
  Fixtures.within(
    id,
    Effect.flatMap(
      Journal,
      (journal) => journal.begin(OrganizationId.make(id), { ...operatorEntry, outcome: "pending" })
    ).pipe(
      Effect.provideService(Clock.Clock, clockAt(at))
    )
  )

const events = (id: string) =>
  Fixtures.within(
    id,
    Effect.flatMap(Journal, (journal) =>
      Effect.map(journal.tail(OrganizationId.make(id), 0, 10_000), ({ events }) => events))
  )

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.as(undefined), Effect.catchDefect((defect) => Effect.succeed(defect)))

const now = Date.UTC(2026, 10, 22, 12, 0, 30, 7)

describe("6 appending to the journal", () => {
  forEachDatabase((name, database) => {
    layer(World.world(database))((it) => {
      it.effect.prop(
        "keeps what an entry says, whatever that is, with the hash of the event that is read",
        { entries: Arbitrary.array(entry, { minLength: 1, maxLength: 6 }) },
        ({ entries }) =>
          Effect.gen(function*() {
            const { id } = yield* World.makeOrganization()
            for (const entry of entries) yield* append(id, entry)
            const found = yield* events(id)
            expect(found.length).toBe(entries.length)
            for (const [index, event] of found.entries()) {
              const { at, hash, id: eventId, object, prev_hash, sequence, ...content } = event
              expect(canonicalize(content)).toBe(canonicalize(entries[index]))
              expect([object, sequence, prev_hash]).toEqual([
                "journal_event",
                index + 1,
                found[index - 1]?.hash ?? prev_hash
              ])
              expect([eventId, at]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.any(Date)])
              expect(hash).toBe(eventHash(event))
            }
            expect(yield* Fixtures.within(id, verify(id))).toMatchObject({ ok: true, sequence: entries.length })
          }),
        drawnOn(name, 30)
      )

      it.effect("keeps nothing of a text that has no canonical form or that the database cannot hold", () =>
        Effect.gen(function*() {
          const { id } = yield* World.makeOrganization()
          yield* append(id)
          for (const broken of ["\ud800", "a\udc00", "\u0000"]) {
            for (
              const change of [
                { details: { text: broken } },
                { details: { [broken]: true } },
                { request_id: broken },
                { target: { type: "account", id: broken } }
              ]
            ) {
              expect(yield* defectOf(append(id, { ...operatorEntry, ...change }))).toBeDefined()
            }
          }
          expect((yield* events(id)).length).toBe(1)
        }))

      it.effect("writes each time as it is read, to the millisecond, and refuses years that have no four digits", () =>
        Effect.gen(function*() {
          const times = [
            "0001-01-01T00:00:00.000Z",
            "0999-12-31T23:59:59.999Z",
            "1969-12-31T23:59:59.999Z",
            "2026-02-28T23:59:59.001Z",
            "9999-12-31T23:59:59.999Z"
          ]
          const { id } = yield* World.makeOrganization()
          for (const time of times) yield* append(id, operatorEntry, Date.parse(time))
          const found = yield* events(id)
          expect(found.map(({ at }) => at.toISOString())).toEqual(times)
          expect(found.map(eventHash)).toEqual(found.map(({ hash }) => hash))
          const other = yield* World.makeOrganization()
          for (const year of [Date.UTC(10_000, 0), Date.parse("0000-12-31T23:59:59.999Z")]) {
            expect(yield* defectOf(append(other.id, operatorEntry, year))).toMatchObject({
              reason: { cause: { message: expect.stringContaining("years 1 to 9999") } }
            })
          }
          expect(yield* events(other.id)).toEqual([])
        }))

      it.effect("gives an intent a minute from the time that the journal has", () =>
        Effect.gen(function*() {
          const { id } = yield* World.makeOrganization()
          yield* append(id, operatorEntry, now)
          const { sequence } = yield* begin(id, now - 50_000)
          expect(sequence).toBe(2)
          expect((yield* events(id)).map(({ at }) => at.getTime())).toEqual([now, now])
          const sql = yield* SqlClient.SqlClient
          const due = yield* Fixtures.within(
            id,
            Effect.orDie(sql`
              select deadline from pending_change where organization_id = ${id} and sequence = ${sequence}`)
          )
          expect(due).toEqual([{ deadline: new Date(now + 60_000) }])
        }))

      it.effect("is for the organization of the transaction alone, and for nobody outside one", () =>
        Effect.gen(function*() {
          const [own, other] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
          yield* append(other.id)
          const sql = yield* SqlClient.SqlClient
          const journal = yield* Journal
          const entry = journal.append(OrganizationId.make(other.id), operatorEntry)
          expect(yield* defectOf(Fixtures.within(own.id, entry))).toMatchObject({
            reason: { _tag: "AuthorizationError" }
          })
          expect(yield* defectOf(entry)).toMatchObject({ reason: { _tag: "AuthorizationError" } })
          expect((yield* events(other.id)).length).toBe(1)
          const allowed = yield* sql`
            select grantee::regrole::text as role from pg_proc, aclexplode(proacl)
            where proname = 'append_event' and grantee <> proowner`
          expect(allowed).toEqual([{ role: "console_app" }])
        }))
    })
  })

  it.live("many sessions at once, of processes whose clocks differ, make one chain without a gap", () =>
    Effect.gen(function*() {
      const both = yield* replicas
      const { id } = yield* both[0](World.makeOrganization())
      const writers = 12
      const rounds = 8
      yield* Effect.forEach(
        Array.from({ length: writers }, (_, index) => index),
        (writer) =>
          Effect.gen(function*() {
            const run = both[writer % 2 === 0 ? 0 : 1]
            for (let round = 0; round < rounds; round++) {
              const at = now + round * 1000 - writer * 777
              yield* run(writer % 3 === 0 ? begin(id, at) : append(id, operatorEntry, at))
            }
          }),
        { concurrency: "unbounded", discard: true }
      )
      const found = yield* both[0](events(id))
      expect(found.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: writers * rounds }, (_, index) => index + 1)
      )
      const times = found.map(({ at }) => at.getTime())
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(new Set(times).size).toBeGreaterThan(1)
      const head = found.at(-1)
      expect(yield* both[1](Fixtures.within(id, verify(id)))).toEqual({
        ok: true,
        sequence: head?.sequence,
        hash: head?.hash
      })
    }))
})
