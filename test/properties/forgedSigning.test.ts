import { describe, expect, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as MetricsServer from "../../src/cli/process/MetricsServer.ts"
import { signCheckpoints } from "../../src/jobs/journal/sign_checkpoints.ts"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Checkpoints from "../../src/layers/sql/journal/Checkpoints.ts"
import * as CheckpointSigning from "../../src/layers/sql/journal/CheckpointSigning.ts"
import { columns } from "../../src/layers/sql/journal/JournalRows.ts"
import { LastCheckpoint } from "../../src/layers/sql/journal/LastCheckpoint.ts"
import { begin } from "../support/jobs.ts"
import { asOwner, parts, rewrite, statement } from "../support/journal/forging.ts"
import { metric } from "../support/metrics.ts"
import { postgres } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

/** The signing job of a process that has just begun, and the errors that it logs. */
const makeJob = Effect.gen(function*() {
  const errors: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") errors.push(String(message))
  })
  const run = yield* Effect.provide(begin(signCheckpoints), CheckpointSigning.layer, { local: true })
  return { errors, run: Effect.provide(run, Logger.layer([logger])) }
})

/** An organization with an account whose labels are journaled. */
const makeJournal = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id)
  return {
    id,
    label: (role_label: string) => World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label }),
    isWhole: Effect.map(World.get("/v1/status", admins.owner.key), ({ body }) => body.journal.chain_ok),
    signed: Effect.map(
      Checkpoints.after(0, 1000),
      (all) => all.flatMap(({ organization, sequence }) => organization === id ? [sequence] : [])
    )
  }
})

const nextMinute = TestClock.adjust("61 seconds")

/** Takes the events after one out of the database, or puts them back. */
const hide = (id: string, after: number) =>
  asOwner(parts(`
    create table hidden as select * from journal_event where organization_id = '${id}' and sequence > ${after};
    delete from journal_event where organization_id = '${id}' and sequence > ${after};
    update journal_head set (sequence, hash) = (select sequence, hash from journal_event
      where organization_id = '${id}' and sequence = ${after}) where organization_id = '${id}'`))

const bringBack = (id: string) =>
  parts(`
    insert into journal_event (organization_id, ${columns}) select organization_id, ${columns} from hidden;
    drop table hidden;
    update journal_head set (sequence, hash) = (select sequence, hash from journal_event
      where organization_id = '${id}' order by sequence desc limit 1) where organization_id = '${id}'`)

const unsigned = Effect.map(
  DatabaseFacts.facts,
  ({ unsigned_journals }) => unsigned_journals.map(({ organization, sequence }) => [organization, sequence])
)

describe("6.14 signing a journal that the owner of the database forges", () => {
  layer(World.world(postgres), { timeout: "2 minutes" })((it) => {
    it.effect("an event is read back once before it is signed", () =>
      Effect.gen(function*() {
        const { label, signed } = yield* makeJournal
        const job = yield* makeJob
        for (const text of ["A", "B"]) yield* label(text)
        const { said } = yield* recording(job.run)
        expect(yield* signed).toEqual([2])
        expect(said.filter(({ sql }) => sql.includes("as signed_hash from journal_event"))).toHaveLength(1)
      }))

    it.effect("an owner who rewrites signed events, with all hashes after them, gets no signature until they are as they were", () =>
      Effect.gen(function*() {
        const [one, two] = [yield* makeJournal, yield* makeJournal]
        const job = yield* makeJob
        yield* MetricsServer.measure({ version: "test", database: "postgresql" })
        for (const journal of [one, two]) for (const label of ["A", "B"]) yield* journal.label(label)
        yield* job.run
        expect([yield* one.signed, yield* two.signed]).toEqual([[2], [2]])
        yield* asOwner(rewrite(one.id, 1, "Another"))
        for (const journal of [one, two]) yield* journal.label("C")
        yield* nextMinute
        yield* job.run
        yield* job.run
        expect([yield* one.signed, yield* two.signed]).toEqual([[2], [2, 3]])
        expect(job.errors).toEqual([expect.stringContaining(`The journal of ${one.id} is not signed`)])
        expect(yield* one.isWhole).toBe(false)
        yield* nextMinute
        yield* job.run
        yield* Effect.repeat(Effect.andThen(nextMinute, metric("console_journal_unsigned")), {
          until: (journals) => journals === 1
        })
        expect(job.errors.at(-1)).toContain(`No checkpoint covers event 3 of ${one.id}`)
        expect(yield* unsigned).toEqual([[one.id, 3]])
        yield* asOwner(rewrite(one.id, 1, "A"))
        yield* job.run
        expect([yield* one.signed, yield* unsigned]).toEqual([[2, 3], []])
      }))

    it.effect("an owner who changes a signed head alone gets no signature for it", () =>
      Effect.gen(function*() {
        const journal = yield* makeJournal
        const job = yield* makeJob
        yield* journal.label("A")
        yield* job.run
        yield* asOwner(rewrite(journal.id, 1))
        yield* nextMinute
        yield* job.run
        expect(yield* journal.signed).toEqual([1])
        expect(job.errors).toEqual([expect.stringContaining("is broken at 1")])
        yield* asOwner(rewrite(journal.id, 1, "A"))
      }))

    it.effect("an owner who hides new events, rewrites them and puts them back is reported, although they are signed then", () =>
      Effect.gen(function*() {
        const journal = yield* makeJournal
        const job = yield* makeJob
        yield* journal.label("A")
        yield* job.run
        for (const label of ["B", "C"]) yield* journal.label(label)
        yield* hide(journal.id, 1)
        yield* TestClock.adjust("10 minutes")
        yield* job.run
        expect(job.errors).toEqual([])
        yield* asOwner(Effect.andThen(bringBack(journal.id), rewrite(journal.id, 2)))
        expect(yield* unsigned).toEqual([[journal.id, 2]])
        yield* job.run
        expect(job.errors).toEqual([expect.stringContaining(`No checkpoint covers event 2 of ${journal.id}`)])
        expect(yield* journal.signed).toEqual([1, 3])
      }))

    it.effect("an owner who dates a checkpoint later than now delays no signature and no report", () =>
      Effect.gen(function*() {
        const [journal, other] = [yield* makeJournal, yield* makeJournal]
        const job = yield* makeJob
        yield* journal.label("A")
        yield* job.run
        yield* other.label("A")
        yield* job.run
        yield* journal.label("B")
        const move = (by: string) =>
          asOwner(statement(`update journal_checkpoint set at = at ${by} where organization_id = '${journal.id}'`))
        yield* move("+ interval '1 year'")
        yield* TestClock.adjust("3 minutes")
        yield* job.run
        expect(yield* unsigned).toEqual([[journal.id, 2]])
        expect(job.errors).toContainEqual(expect.stringContaining("is broken at 1 (signature)"))
        yield* move("- interval '1 year'")
        yield* job.run
        expect([yield* journal.signed, yield* unsigned]).toEqual([[1, 2], []])
      }))

    it.effect("an owner who adds a checkpoint stops the signing of every journal, in a process that begins as in one that runs", () =>
      Effect.gen(function*() {
        const [one, two] = [yield* makeJournal, yield* makeJournal]
        const job = yield* makeJob
        yield* one.label("A")
        yield* job.run
        yield* asOwner(statement(`
          insert into journal_checkpoint
          select number + 1, '${two.id}', sequence, hash, at, previous, key_id, signature
          from journal_checkpoint order by number desc limit 1`))
        yield* two.label("A")
        yield* nextMinute
        const stopped = { _tag: "CheckpointForged", message: expect.stringContaining("is forged: nothing is signed") }
        expect(yield* Effect.flip(job.run)).toMatchObject(stopped)
        expect(yield* Effect.flip((yield* Effect.provide(makeJob, LastCheckpoint.layerMemory, { local: true })).run))
          .toMatchObject(stopped)
        yield* asOwner(statement(`delete from journal_checkpoint where organization_id = '${two.id}'`))
        yield* job.run
        expect(yield* two.signed).toEqual([1])
      }))
  })
})
