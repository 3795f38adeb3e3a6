import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Journals from "../../src/cli/commands/journal/JournalRequests.ts"
import { Checkpoint } from "../../src/domain/journal/Checkpoint.ts"
import { CheckpointKeys, digest } from "../../src/layers/crypto/journal/CheckpointKeys.ts"
import * as Checkpoints from "../../src/layers/sql/journal/Checkpoints.ts"
import { LastCheckpoint } from "../../src/layers/sql/journal/LastCheckpoint.ts"
import { KeptProof } from "../../src/operator/journal/Journals.ts"
import { sign } from "../support/jobs.ts"
import { asOwner, parts, rewrite, statement } from "../support/journal/forging.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const tables = ["journal_event", "journal_head", "journal_place", "journal_checkpoint"]

const Verified = Schema.Struct({
  ok: Schema.Boolean,
  journals: Schema.Array(Schema.Struct({ organization: Schema.String, reason: Schema.NullOr(Schema.String) })),
  checkpoints: Schema.Struct({ number: Schema.Int, reason: Schema.NullOr(Schema.String) })
})

/**
 * What `journal verify` finds, for whoever remembers nothing: why each journal is broken, and why the checkpoints are.
 */
const found = (kept: ReadonlyArray<unknown> = []) =>
  Schema.decodeUnknownEffect(Schema.Array(KeptProof))(kept).pipe(
    Effect.flatMap((checkpoints) => Journals.verifyJournal({ organization: null, checkpoints, public_keys: [] })),
    Effect.provide(LastCheckpoint.layerMemory, { local: true }),
    Effect.flatMap(Schema.decodeUnknownEffect(Verified)),
    Effect.orDie,
    Effect.map(({ checkpoints, journals, ok }) => ({
      ok,
      journals: journals.flatMap(({ reason }) => reason === null ? [] : [reason]),
      checkpoints: checkpoints.reason
    }))
  )

const whole = { ok: true, journals: [], checkpoints: null }

const label = (organization: World.Organization, account: string, role_label: string) =>
  World.put(`/v1/accounts/${account}/role-label`, organization.admins.owner.key, { role_label })

/** Two organizations whose events were signed in turns: four checkpoints, the third of the first's second half. */
const signedJournals = Effect.gen(function*() {
  const [one, two] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
  const accounts = [yield* World.makeAccount(one.id), yield* World.makeAccount(two.id)]
  for (const turn of [1, 2]) {
    for (const [index, organization] of [one, two].entries()) {
      for (const number of [1, 2, 3]) yield* label(organization, accounts[index] ?? "", `L${turn}${number}`)
      expect(yield* sign(true)).toBe(1)
    }
  }
  return { one: one.id, two: two.id, first: one, account: accounts[0] ?? "" }
})

const cut = (organization: string, to: number) => `
  delete from journal_event where organization_id = '${organization}' and sequence > ${to};
  update journal_head set (sequence, hash) = (select sequence, hash from journal_event
    where organization_id = '${organization}' and sequence = ${to}) where organization_id = '${organization}'`

const empty = (organization: string) =>
  `delete from journal_event where organization_id = '${organization}';
  delete from journal_head where organization_id = '${organization}'`

const swap = (one: string, two: string) =>
  ["journal_event", "journal_head", "journal_checkpoint"].flatMap((table) =>
    [[one, "aside"], [two, one], ["aside", two]].map(([from, to]) =>
      `update ${table} set organization_id = '${to}' where organization_id = '${from}'`
    )
  )

/** Puts the tables back to where they were saved. */
const restore = Effect.forEach(tables, (table) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ names: string }>`
      select string_agg(quote_ident(attname), ', ') as names from pg_attribute
      where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped and attgenerated = ''`
    yield* statement(`delete from ${table}`)
    yield* statement(`insert into ${table} (${row?.names}) select ${row?.names} from saved_${table}`)
  }))

/** Signs every checkpoint anew with a key of the forger's. */
const forge = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* CheckpointKeys.make(Redacted.make(Buffer.alloc(32, 66).toString("base64")))
  let previous = "0".repeat(64)
  for (const checkpoint of yield* Checkpoints.after(0, 100)) {
    const forged = keys.sign({ ...checkpoint, previous })
    yield* sql`update journal_checkpoint set previous = ${previous}, key_id = ${forged.key_id},
      signature = ${forged.signature} where number = ${forged.number}`
    previous = digest(forged)
  }
})

describe("6.14 signed checkpoints", () => {
  layer(World.world(postgres), { timeout: "2 minutes" })((it) => {
    it.effect("find whatever the owner of the database does to the journal, even where all its hashes are computed again", () =>
      Effect.gen(function*() {
        const { account, first, one, two } = yield* signedJournals
        const kept: ReadonlyArray<Checkpoint> = yield* Checkpoints.after(0, 100)
        const encoded = yield* Effect.orDie(Schema.encodeEffect(Schema.Array(Checkpoint))([...kept]))
        expect(kept.map(({ number, organization }) => [number, organization])).toEqual([[1, one], [2, two], [3, one], [
          4,
          two
        ]])
        expect(yield* found()).toEqual(whole)
        expect(yield* found(encoded)).toEqual(whole)
        for (const table of tables) yield* asOwner(statement(`create table saved_${table} as table ${table}`))
        const cases: ReadonlyArray<
          readonly [
            what: string,
            Effect.Effect<unknown, unknown, SqlClient.SqlClient>,
            journals: ReadonlyArray<string>,
            chain: string | null
          ]
        > = [
          ["an event is written anew, and all hashes after it", rewrite(one, 2), ["checkpoint"], null],
          ["the newest events are cut off", parts(cut(one, 3)), ["truncated"], null],
          [
            "the newest events are cut off with their checkpoint",
            parts(`${cut(one, 3)}; delete from journal_checkpoint where number = 3`),
            [],
            "gap"
          ],
          ["a journal is emptied", parts(empty(one)), ["truncated"], null],
          [
            "a journal is emptied with its checkpoints",
            parts(`${empty(one)}; delete from journal_checkpoint where organization_id = '${one}'`),
            [],
            "gap"
          ],
          ["two organizations are swapped", Effect.forEach(swap(one, two), statement), ["link", "link"], "signature"],
          [
            "a checkpoint's time is changed",
            statement("update journal_checkpoint set at = at + interval '1 second' where number = 2"),
            [],
            "signature"
          ],
          [
            "an old checkpoint is played again",
            statement(`update journal_checkpoint new set (sequence, hash, at, previous, key_id, signature) =
              (select sequence + 1, hash, at, previous, key_id, signature from journal_checkpoint old where old.number = 2)
              where number = 4`),
            ["checkpoint"],
            "link"
          ],
          ["checkpoints are signed by a key of the forger's", forge, [], "key"],
          [
            "a checkpoint is removed from between",
            statement("delete from journal_checkpoint where number = 2"),
            [],
            "gap"
          ],
          [
            "every checkpoint is removed, and two minutes pass",
            statement("delete from journal_checkpoint"),
            ["unsigned", "unsigned"],
            null
          ]
        ]
        yield* TestClock.adjust("2 minutes")
        for (const [what, tamper, journals, checkpoints] of cases) {
          yield* asOwner(tamper)
          expect([what, yield* found()]).toEqual([what, { ok: false, journals, checkpoints }])
          yield* asOwner(restore)
          expect([what, yield* found()]).toEqual([what, whole])
        }

        // The whole database as it was earlier says nothing by itself: only what was kept outside does.
        yield* asOwner(parts(`${cut(one, 3)}; ${cut(two, 3)}; delete from journal_checkpoint where number > 2`))
        expect(yield* found()).toEqual(whole)
        expect(yield* found(encoded)).toMatchObject({
          ok: false,
          checkpoints: "lost",
          journals: ["truncated", "truncated"]
        })
        expect(yield* found(encoded.slice(0, 2))).toEqual(whole)
        // A process that has seen them signs nothing more.
        yield* label(first, account, "More")
        expect(yield* Effect.flip(sign(true))).toMatchObject({ _tag: "CheckpointsLost", number: 4 })
        // A file to which another process has pushed what stands there now has both.
        expect(yield* Effect.provide(sign(true), LastCheckpoint.layerMemory, { local: true })).toBe(1)
        const anew = yield* Effect.orDie(
          Schema.encodeEffect(Schema.Array(Checkpoint))([...(yield* Checkpoints.after(2, 1))])
        )
        expect(yield* found(anew)).toEqual(whole)
        expect(yield* found([...encoded.slice(0, 3), ...anew])).toMatchObject({ ok: false, checkpoints: "replaced" })
      }))
  })
})
