import { describe, expect, it, layer } from "@effect/vitest"
import { type Context, Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Journals from "../../src/cli/commands/journal/JournalRequests.ts"
import type { PublicJwk } from "../../src/domain/journal/Checkpoint.ts"
import type { OrganizationId } from "../../src/domain/people/Access.ts"
import * as Console from "../../src/layers/Console.ts"
import { CheckpointKeys } from "../../src/layers/crypto/journal/CheckpointKeys.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import * as Checkpoints from "../../src/layers/sql/journal/Checkpoints.ts"
import { tail } from "../../src/layers/sql/journal/JournalRows.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import * as Fixtures from "../support/fixtures.ts"
import { sign } from "../support/jobs.ts"
import { fillDirectory, pglite } from "../support/postgres/database.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const Verified = Schema.Struct({
  ok: Schema.Boolean,
  checkpoints: Schema.Struct({ number: Schema.Int, reason: Schema.NullOr(Schema.String) })
})

/** What `journal verify` finds. */
const verified = (public_keys: ReadonlyArray<PublicJwk> = []) =>
  Journals.verifyJournal({ organization: null, checkpoints: [], public_keys }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Verified)),
    Effect.orDie
  )

/** Journals something in the organization. */
const journal = (id: OrganizationId) =>
  Fixtures.within(
    id,
    Effect.flatMap(Journal, (journal) => journal.append(id, Fixtures.operatorEntry("organization.set", id)))
  )

const made = Checkpoints.after(0, 10_000)

describe("6.14 signing checkpoints", () => {
  it.effect(
    "two replicas that sign at once, while others append, make one chain, without a gap and no event signed twice",
    () =>
      Effect.gen(function*() {
        const [within, other] = yield* replicas
        const ids = yield* within(Effect.forEach([1, 2, 3, 4], () => World.makeOrganization()))
        const rounds = 8
        for (let round = 0; round < rounds; round++) {
          yield* Effect.all(
            [
              ...ids.map(({ id }) => within(Effect.repeat(journal(id), { times: 3 }))),
              ...[within, other, within, other].map((run) => run(Effect.repeat(sign(true), { times: 3 })))
            ],
            { concurrency: "unbounded" }
          )
        }
        // A journal that somebody appended to just then was left for the next time.
        yield* within(sign(true))
        const all = yield* within(made)
        expect(all.map(({ number }) => number)).toEqual(all.map((_, at) => at + 1))
        for (const { id } of ids) {
          const [last] = yield* within(SqlClient.SqlClient.use((sql) => Tenant.transaction(sql, id)(tail(id, 0, 1000))))
            .pipe(Effect.map((events) => events.slice(-1)))
          expect(all.findLast(({ organization }) => organization === id)?.sequence).toBe(last?.sequence)
        }
        expect(new Set(all.map(({ organization, sequence }) => `${organization} ${sequence}`)).size).toBe(all.length)
        expect(yield* within(verified())).toEqual({ ok: true, checkpoints: { number: all.length, reason: null } })
      }).pipe(Effect.scoped),
    60_000
  )

  layer(World.world(pglite))((it) => {
    it.effect("a new key in front of the list signs from then on, which each journal says once; a lost key is given by its public one", () =>
      Effect.gen(function*() {
        const seeds = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"))
        const [older = "", newer = ""] = seeds
        const keysOf = (list: string) => CheckpointKeys.make(Redacted.make(list))
        const [old, both, alone] = [yield* keysOf(older), yield* keysOf(`${newer},${older}`), yield* keysOf(newer)]
        const under =
          (keys: Context.Service.Shape<typeof CheckpointKeys>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
            Effect.provideService(effect, CheckpointKeys, keys)
        const ids = [(yield* World.makeOrganization()).id, (yield* World.makeOrganization()).id]
        const round = Effect.andThen(Effect.forEach(ids, journal), sign(true))
        const changes = (id: string) =>
          SqlClient.SqlClient.use((sql) => Tenant.transaction(sql, id)(tail(id, 0, 100))).pipe(
            Effect.map((events) => events.filter(({ action }) => action === "checkpoint_key.changed"))
          )
        yield* under(old)(round)
        yield* under(old)(round)
        expect(yield* changes(ids[0] ?? "")).toEqual([])
        yield* under(both)(round)
        yield* under(both)(round)
        for (const id of ids) {
          expect((yield* changes(id)).map(({ details, target }) => ({ details, target }))).toEqual([{
            details: { previous_key_id: old.keyId, previous_key_known: true },
            target: { type: "checkpoint_key", id: both.keyId }
          }])
        }
        expect(new Set((yield* made).map(({ key_id }) => key_id))).toEqual(new Set([old.keyId, alone.keyId]))
        expect(yield* under(both)(verified())).toMatchObject({ ok: true, checkpoints: { number: 8 } })

        // The old private key is lost, and its public key is not in the list.
        expect(yield* under(alone)(verified())).toEqual({ ok: false, checkpoints: { number: 1, reason: "key" } })
        expect(yield* under(alone)(verified(old.publicKeys))).toMatchObject({ ok: true })
        const third = yield* keysOf(Buffer.alloc(32, 3).toString("base64"))
        yield* under(third)(round)
        expect((yield* changes(ids[0] ?? "")).at(-1)?.details).toEqual({
          previous_key_id: alone.keyId,
          previous_key_known: false
        })
        expect(yield* under(third)(verified([...old.publicKeys, ...alone.publicKeys]))).toMatchObject({ ok: true })
      }))
  })

  it.effect(
    "an embedded database that is put back alone is found by the file checkpoint-last, and nothing is signed over it",
    () =>
      Effect.gen(function*() {
        const directory = fs.mkdtempSync(path.join(os.tmpdir(), "signing-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(directory, { recursive: true })))
        const database = path.join(directory, "database")
        fillDirectory(directory)
        const opened = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.gen(function*() {
            const scope = yield* Scope.make()
            const context = yield* Layer.buildWithScope(Layer.fresh(Console.layerEmbedded({ directory })), scope)
            return yield* Effect.ensuring(Effect.provideContext(effect, context), Scope.close(scope, Exit.void))
          })
        const id = yield* opened(
          Effect.tap(Effect.map(World.makeOrganization(), (organization) => organization.id), (id) => journal(id))
        )
        fs.cpSync(database, `${database}.old`, { recursive: true })
        // What a host journals is signed at the end of its scope.
        const [one] = yield* opened(Effect.andThen(journal(id), made))
        expect(one).toMatchObject({ number: 1, organization: id })
        expect(fs.statSync(path.join(directory, "checkpoint-last")).mode & 0o777).toBe(0o600)
        fs.rmSync(database, { recursive: true })
        fs.renameSync(`${database}.old`, database)
        yield* opened(Effect.gen(function*() {
          expect(yield* verified()).toEqual({ ok: false, checkpoints: { number: 2, reason: "lost" } })
          yield* journal(id)
          expect(yield* Effect.flip(sign(true))).toMatchObject({ _tag: "CheckpointsLost", number: 2 })
          fs.rmSync(path.join(directory, "checkpoint-last"))
          expect(yield* sign(true)).toBe(1)
          expect(yield* verified()).toEqual({ ok: true, checkpoints: { number: 2, reason: null } })
        }))
      }).pipe(Effect.scoped),
    120_000
  )
})
