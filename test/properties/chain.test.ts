import { describe, expect, layer } from "@effect/vitest"
import { Data, Effect } from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as crypto from "node:crypto"
import { type ChainState, verify } from "../../src/layers/sql/journal/JournalChain.ts"
import type { Head } from "../../src/layers/sql/journal/JournalRows.ts"
import * as Fixtures from "../support/fixtures.ts"
import { asOwner, forEachDatabase, postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** How many events the journals of these tests hold. */
const length = 6

const makeJournal = Effect.gen(function*() {
  const organization = yield* World.makeOrganization()
  const account = yield* World.makeAccount(organization.id)
  for (let number = 1; number <= length; number++) {
    yield* World.put(`/v1/accounts/${account}/role-label`, organization.admins.owner.key, { role_label: `L${number}` })
  }
  return organization
})

class Undone extends Data.TaggedError("Undone")<{ readonly found: ChainState }> {}

type Tamper = (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>

/** What the verification says after the tables' owner, whom no grant holds, did this; then all of it is undone. */
const after = Effect.fnUntraced(function*(
  organizationId: string,
  tamper: Tamper,
  checkpoints: ReadonlyArray<Head> = []
) {
  return yield* asOwner((sql) =>
    Effect.gen(function*() {
      yield* sql`alter table journal_event no force row level security`
      yield* sql`alter table journal_head no force row level security`
      yield* sql`alter table journal_event disable trigger append_only`
      yield* Effect.orDie(tamper(sql))
      return yield* new Undone({ found: yield* verify(organizationId, checkpoints) })
    }).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      sql.withTransaction,
      Effect.catchTag("Undone", ({ found }) => Effect.succeed(found)),
      Effect.orDie
    )
  )
})

const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join(",")}]`
    : typeof value === "object" && value !== null
    ? `{${
      Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
        .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")
    }}`
    : JSON.stringify(value)

const sha256 = (...parts: ReadonlyArray<string | Buffer>) => {
  const hash = crypto.createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest("hex")
}

/** Each column with another value for it. */
const edits: Readonly<Record<string, string>> = {
  id: "gen_random_uuid()",
  at: "at + interval '1 millisecond'",
  action: "'account.paused'",
  outcome: "'refused'",
  actor_type: "'operator'",
  actor_admin_id: "gen_random_uuid()",
  actor_name: "'Somebody Else'",
  credential_kind: "'oauth'",
  credential_id: "gen_random_uuid()::text",
  credential_label: "'Another key'",
  via: "'cli'",
  account_id: "null",
  target_type: "'admin'",
  target_id: "gen_random_uuid()::text",
  details: "'{\"role_label\":\"L\"}'::jsonb",
  ip: "'192.0.2.1'",
  request_id: "'req_another'",
  closes: "1",
  hash: "repeat('0', 64)"
}

describe("6 the journal's chain", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("is verified by any reader of the journal, from its documented first hash on", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* makeJournal
          const page = yield* World.get("/v1/journal?limit=100", admins.owner.key)
          let previous = sha256(`journal/1\n${id}`)
          let sequence = 0
          for (const { hash, ...event } of page.body.data.toReversed()) {
            sequence += 1
            expect(event).toMatchObject({ sequence, prev_hash: previous })
            expect(hash).toBe(sha256(Buffer.from(previous, "hex"), canonical(event)))
            previous = hash
          }
          expect(page.body.last_sequence).toBe(length)
          const found = yield* Fixtures.within(id, verify(id))
          expect(found).toEqual({ ok: true, sequence: length, hash: previous })
        }))

      it.effect("is broken by an edit of any column of any event", () =>
        Effect.gen(function*() {
          const { id } = yield* makeJournal
          // The organization is covered by the chain's first hash; the sequence, the hash before and the object below.
          const columns = yield* asOwner((sql) =>
            sql<{ name: string }>`select column_name::text as name from information_schema.columns
              where table_name = 'journal_event'
                and column_name not in ('organization_id', 'sequence', 'prev_hash', 'object')`
          )
          expect(columns.map(({ name }) => name).sort()).toEqual(Object.keys(edits).sort())
          for (const [column, value] of Object.entries(edits)) {
            for (const sequence of [1, 3, length]) {
              const found = yield* after(id, (sql) =>
                sql`update journal_event set ${sql(column)} = ${sql.literal(value)}
                  where organization_id = ${id} and sequence = ${sequence}`)
              expect(found, `${column} of event ${sequence}`).toEqual({ ok: false, sequence, reason: "hash" })
            }
          }
          const refiled = yield* after(id, (sql) =>
            Effect.andThen(
              sql`alter table journal_event alter column object drop expression`,
              sql`update journal_event set object = 'billing' where organization_id = ${id} and sequence = 3`
            ))
          expect(refiled, "what the event is found by").toEqual({ ok: false, sequence: 3, reason: "hash" })
          const relinked = yield* after(id, (sql) =>
            sql`update journal_event set prev_hash = repeat('0', 64)
              where organization_id = ${id} and sequence = 2`)
          expect(relinked).toEqual({ ok: false, sequence: 2, reason: "link" })
          expect(yield* after(id, () => Effect.void)).toMatchObject({ ok: true })
        }))

      it.effect("covers every column: none may hold what the event does not show", () =>
        Effect.gen(function*() {
          const { id } = yield* makeJournal
          for (const column of ["credential_kind", "credential_id", "credential_label", "target_type", "target_id"]) {
            const refusal = yield* after(id, (sql) =>
              sql`update journal_event set ${sql(column)} = null where organization_id = ${id} and sequence = 2`).pipe(
                Effect.as(undefined),
                Effect.catchDefect((defect) =>
                  Effect.succeed(defect)
                )
              )
            expect(refusal, column).toMatchObject({ reason: { _tag: "ConstraintError" } })
          }
        }))

      it.effect("is broken where events are removed, swapped, moved or forged", () =>
        Effect.gen(function*() {
          const { id } = yield* makeJournal
          const other = yield* makeJournal
          const remove = (sequence: number): Tamper => (sql) =>
            sql`delete from journal_event where organization_id = ${id} and sequence = ${sequence}`
          expect(yield* after(id, remove(1))).toEqual({ ok: false, sequence: 1, reason: "gap" })
          expect(yield* after(id, remove(3))).toEqual({ ok: false, sequence: 3, reason: "gap" })
          expect(yield* after(id, remove(length))).toEqual({ ok: false, sequence: length - 1, reason: "head" })
          expect(yield* after(id, (sql) => sql`delete from journal_event where organization_id = ${id}`))
            .toEqual({ ok: false, sequence: 0, reason: "head" })
          const move = (sql: SqlClient.SqlClient, from: number, to: number) =>
            sql`update journal_event set sequence = ${to} where organization_id = ${id} and sequence = ${from}`
          const swap: Tamper = (sql) => Effect.all([move(sql, 2, 1000), move(sql, 3, 2), move(sql, 1000, 3)])
          expect(yield* after(id, swap)).toEqual({ ok: false, sequence: 2, reason: "link" })
          const closeUp: Tamper = (sql) =>
            Effect.all([remove(3)(sql), ...[4, 5, 6].map((sequence) => move(sql, sequence, sequence - 1))])
          expect(yield* after(id, closeUp)).toEqual({ ok: false, sequence: 3, reason: "link" })
          const copy = (organizationId: string, sequence: number, prevHash: string): Tamper => (sql) =>
            sql`
              insert into journal_event (organization_id, sequence, id, at, action, outcome, actor_type, via, details,
                prev_hash, hash)
              select ${id}, ${length + 1}, gen_random_uuid(), at, action, outcome, actor_type, via, details,
                ${sql.literal(prevHash)}, hash
              from journal_event where organization_id = ${organizationId} and sequence = ${sequence}`
          const last = `(select hash from journal_head where organization_id = '${id}')`
          expect(yield* after(id, copy(id, 2, "prev_hash")))
            .toEqual({ ok: false, sequence: length + 1, reason: "link" })
          expect(yield* after(id, copy(other.id, 2, last)))
            .toEqual({ ok: false, sequence: length + 1, reason: "hash" })
        }))

      it.effect("is another organization's when whole journals are swapped", () =>
        Effect.gen(function*() {
          const { id } = yield* makeJournal
          const other = yield* makeJournal
          const swap: Tamper = (sql) =>
            Effect.gen(function*() {
              for (const table of ["journal_event", "journal_head"]) {
                yield* sql`delete from ${sql(table)} where organization_id = ${id}`
                yield* sql`update ${sql(table)} set organization_id = ${id} where organization_id = ${other.id}`
              }
            })
          expect(yield* after(id, swap)).toEqual({ ok: false, sequence: 1, reason: "link" })
        }))

      it.effect("is broken by a well-made event that the head does not know", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* makeJournal
          yield* World.put("/v1/settings/notifications", admins.owner.key, { recipients: "owner_superadmins" })
          const back: Tamper = (sql) =>
            sql`update journal_head set (sequence, hash) = (select sequence, hash from journal_event
              where organization_id = ${id} and sequence = ${length}) where organization_id = ${id}`
          expect(yield* after(id, back)).toEqual({ ok: false, sequence: length + 1, reason: "head" })
          expect(yield* after(id, (sql) => sql`delete from journal_head where organization_id = ${id}`))
            .toEqual({ ok: false, sequence: length + 1, reason: "head" })
        }))

      it.effect("is shorter than a checkpoint, or disagrees with it, when it was cut off or written anew", () =>
        Effect.gen(function*() {
          const { id } = yield* makeJournal
          const checkpoint = yield* Fixtures.within(id, verify(id))
          if (!checkpoint.ok) return yield* Effect.die(new Error(checkpoint.reason))
          const cut: Tamper = (sql) =>
            Effect.all([
              sql`delete from journal_event where organization_id = ${id} and sequence > 4`,
              sql`update journal_head set (sequence, hash) = (select sequence, hash from journal_event
                where organization_id = ${id} and sequence = 4) where organization_id = ${id}`
            ])
          expect(yield* after(id, cut)).toMatchObject({ ok: true, sequence: 4 })
          expect(yield* after(id, cut, [checkpoint])).toEqual({ ok: false, sequence: 4, reason: "truncated" })
          const another = { sequence: 3, hash: checkpoint.hash }
          expect(yield* after(id, () => Effect.void, [checkpoint, another]))
            .toEqual({ ok: false, sequence: 3, reason: "checkpoint" })
          expect(yield* after(id, () => Effect.void, [checkpoint])).toEqual(checkpoint)
        }))
    })
  })

  layer(World.world(postgres))("while events come", (it) => {
    it.effect("an event that comes between the statements of a verification is no break, and is verified too", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* makeJournal
        const account = yield* World.makeAccount(id)
        const labels = ["Meanwhile", "Meanwhile again"]
        const runPromise = Effect.runPromiseWith(yield* Effect.context<Effect.Services<ReturnType<typeof World.put>>>())
        const meanwhile = Effect.promise(async () => {
          const label = labels.shift()
          if (label === undefined) return
          await runPromise(World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: label }))
        })
        const found = yield* Effect.provideService(
          Fixtures.within(id, verify(id)),
          Statement.CurrentTransformer,
          (statement) =>
            statement.compile()[0].includes("from journal_head")
              ? Effect.as(meanwhile, statement)
              : Effect.succeed(statement)
        )
        expect(found).toMatchObject({ ok: true, sequence: length + 2 })
      }))
  })
})
