import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { byService, record } from "../../../src/changes/Record.ts"
import { ServiceUnavailable } from "../../../src/domain/Failure.ts"
import { applyArchiveRetention } from "../../../src/jobs/archive/apply_archive_retention.ts"
import { deleteArchives } from "../../../src/jobs/archive/delete_archives.ts"
import { judgeArchivedChats } from "../../../src/jobs/archive/judge_archived_chats.ts"
import { makeArchiveManifests } from "../../../src/jobs/archive/make_archive_manifests.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import { settleArchivePhases } from "../../../src/jobs/archive/settle_archive_phases.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../../support/archive/archives.ts"
import { makeCleanup } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { makeRule } from "../../support/archive/rules.ts"
import { untilBlocked } from "../../support/postgres/blocked.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { chatId, seen } = Archives
const aDay = 24 * 60 * 60

type Staged = Effect.Success<ReturnType<typeof Deletions.stage>>

/** An entry of the journal, which is locked last. */
const journaled = ({ archives: [one], id }: Staged) =>
  record(byService(one!.account.organizationId), "archive.released", { id })

/** Locks the account's rows of the table; the effect that is answered does more in that transaction, and commits. */
const holding = Effect.fnUntraced(function*<A, E, R>(
  { archives: [one] }: Staged,
  table: "archive_chat" | "archive_state",
  more: Effect.Effect<A, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const { accountId, organizationId } = one!.account
  const locked = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const holder = yield* Effect.forkChild(
    (yield* Db).transaction(
      organizationId,
      Effect.gen(function*() {
        yield* Effect.orDie(sql`select 1 from ${sql(table)} where account_id = ${accountId} for update`)
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(release)
        yield* more
      })
    )
  )
  yield* Deferred.await(locked)
  return { end: Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(holder)) }
})

/** Has the effect wait for such rows, and then appends to the journal in the transaction that holds them. */
const behind = Effect.fnUntraced(function*<A, E, R>(
  staged: Staged,
  table: "archive_chat" | "archive_state",
  waiting: Effect.Effect<A, E, R>
) {
  const { end } = yield* holding(staged, table, journaled(staged))
  const waiter = yield* Effect.forkChild(waiting)
  yield* untilBlocked(1)
  yield* end
  yield* Fiber.join(waiter)
})

const actionsOf = (id: string) => Effect.map(World.journal(id), (events) => events.map(({ action }) => action))

const endPlan = ({ id }: Staged) =>
  World.set(id, "organization", id, {
    plan: "protect",
    archive_plan_ended_at: new Date(Archives.beginning - 91 * aDay * 1000)
  })

const keepDays = ({ admins }: Staged) =>
  World.send("PUT", "/v1/archive/retention", { key: admins.owner.key, body: { days: 36 } })

/** A failure of either of two organizations, for which the job is due, does not keep the other waiting. */
const goesOn = Effect.fnUntraced(function*<E, R, E2, R2>(
  job: { readonly run: Effect.Effect<void, E, R> },
  prepare: (staged: Staged) => Effect.Effect<unknown, E2, R2>
) {
  const both = [yield* Deletions.stage(1), yield* Deletions.stage(1)]
  yield* Effect.forEach(both, prepare)
  const ids = both.map(({ id }) => id)
  const asked = new Set<string>()
  const db = yield* Db
  const run = Effect.provideService(job.run, Db, {
    ...db,
    transaction: (id, effect) => {
      if (ids.includes(id)) asked.add(id)
      const [first] = asked
      return id === first ? Effect.fail(new ServiceUnavailable()) : db.transaction(id, effect)
    }
  })
  expect(yield* Effect.flip(run)).toBeInstanceOf(ServiceUnavailable)
  expect([...asked].toSorted()).toEqual(ids.toSorted())
})

describe("locks of archives and of the journal", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a retention's cleanup that begins leaves the journal to others while it waits for rows", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { admins, archives: [one], id } = staged
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9000, 40 * aDay, "old")], "sweep"))
        yield* World.send("PUT", "/v1/archive/retention", { key: admins.owner.key, body: { days: 36 } })
        yield* applyArchiveRetention.run
        yield* TestClock.adjust("7 days")
        yield* behind(staged, "archive_chat", runArchiveCleanups.run)
        expect((yield* actionsOf(id)).slice(-3)).toEqual(["cleanup.confirmed", "archive.released", "cleanup.finished"])
      }))

    it.effect("an archive that is deleted after its plan leaves the journal to others while it waits for rows", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { id } = staged
        yield* settleArchivePhases.run
        yield* endPlan(staged)
        yield* behind(staged, "archive_state", settleArchivePhases.run)
        expect((yield* actionsOf(id)).slice(-3)).toEqual([
          "archive.released",
          "archive.phase_changed",
          "archive.deletion_started"
        ])
      }))

    it.effect("a rule that changes waits for archives before it locks itself or their chats, as a deletion does", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { admins, archives: [one], id } = staged
        const { accountId } = one!.account
        const { key } = admins.owner
        const sql = yield* SqlClient.SqlClient
        for (const target of [null, accountId]) {
          const rule = yield* makeRule(id, "any", { target })
          const { end } = yield* holding(
            staged,
            "archive_state",
            Effect.andThen(
              sql`update archive_chat set complete = complete where account_id = ${accountId}`,
              sql`update archive_rule set live = live where rule_id = ${rule}`
            )
          )
          const changing = World.send("PATCH", `/v1/archive/rules/${rule}`, { key, body: { effect: "skip" } })
          const changed = yield* Effect.forkChild(changing)
          yield* untilBlocked(1)
          yield* end
          expect((yield* Fiber.join(changed)).status).toBe(200)
        }
      }))
  })
})

describe("where the database does not answer in time for one organization", () => {
  layer(World.world(postgres))((it) => {
    const prepareCleanup = ({ archives, id }: Staged) =>
      makeCleanup(id, archives.map(({ account }) => account.accountId), "queued")
    const waitToBeJudged = ({ id }: Staged) =>
      World.query<object>(
        id,
        (sql) => sql`insert into archive_unjudged select organization_id, id from account where organization_id = ${id}`
      )
    const beginDeletion = ({ admins, id }: Staged) => Deletions.deleteWhole(id, admins.owner.key)

    it.effect("cleanups of others go on", () => goesOn(runArchiveCleanups, prepareCleanup))
    it.effect("deletions of others go on", () => goesOn(deleteArchives, beginDeletion))
    it.effect("phases of others are settled", () => goesOn(settleArchivePhases, endPlan))
    it.effect("retentions of others apply", () => goesOn(applyArchiveRetention, keepDays))
    it.effect("manifests of others are made", () => goesOn(makeArchiveManifests, () => Effect.void))
    it.effect("chats of others are judged", () => goesOn(judgeArchivedChats, waitToBeJudged))
  })
})
