import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { now } from "../../../src/domain/Moments.ts"
import { applyArchiveRetention } from "../../../src/jobs/archive/apply_archive_retention.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import { ArchiveCleanups } from "../../../src/ports/archive/ArchiveCleanups.ts"
import { ArchiveHolds } from "../../../src/ports/archive/ArchiveHolds.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../../support/archive/archives.ts"
import { makeHold } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { addOld, applied, day, list, messages, type Staged } from "../../support/archive/retentions.ts"
import { pglite } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { chatId, seen } = Archives
const aDay = 24 * 60 * 60

const set = ({ admins }: Pick<Staged, "admins">, days: number | null) =>
  World.send("PUT", "/v1/archive/retention", { key: admins.owner.key, body: { days } })

const mailsOf = (id: string, kind: string) =>
  World.query<object>(id, (sql) => sql`select 1 from mail where organization_id = ${id} and kind = ${kind}`)

const states = (staged: Pick<Staged, "admins">) =>
  Effect.map(list(staged), (data) => data.map(({ state }: { state: string }) => state))

const eventsOf = (id: string, ...actions: ReadonlyArray<string>) =>
  Effect.map(World.journal(id), (events) => events.filter(({ action }) => actions.includes(action)))

/** Two accounts of which a cleanup of the retention waits, and the messages that each of them has. */
const stageWaiting = Effect.gen(function*() {
  const staged = yield* Deletions.stage(2)
  const { archives, id } = staged
  const accounts = archives.map(({ account: { accountId } }) => accountId)
  yield* addOld(staged)
  const kept = yield* messages(id, accounts[0]!)
  yield* set(staged, 36)
  yield* applied
  return { accounts, id, kept, staged }
})

describe("the retention of an archive", () => {
  layer(World.world(pglite))((it) => {
    it.effect("queues what will be due 7 days later and mails the owner, once, and deletes it then", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(2)
        const { archives: [one, other], id } = staged
        yield* addOld(staged)
        const mine = one!.account.accountId
        const kept = yield* messages(id, mine)
        const { body } = yield* set(staged, 36)
        expect([body.days, body.begins_at]).toEqual([36, day(7)])
        expect((yield* mailsOf(id, "retention_set")).length).toBe(1)
        yield* applied
        const [waiting, ...others] = yield* list(staged)
        expect(others).toEqual([])
        expect(waiting).toMatchObject({
          state: "queued",
          not_before: day(7),
          messages: 4,
          created_by: null,
          confirm_phrase: null,
          started_at: null
        })
        expect([...waiting.criteria.account_ids].sort()).toEqual([mine, other!.account.accountId].sort())
        expect((yield* mailsOf(id, "retention_due")).length).toBe(1)
        expect((yield* eventsOf(id, "archive_retention.applied")).map(({ details }) => details)).toEqual([
          { days: 36, accounts: 2, messages: 4, files: waiting.files, not_before: day(7) }
        ])
        yield* TestClock.adjust("1 day")
        yield* applied
        yield* TestClock.adjust("143 hours")
        yield* applied
        expect([yield* states(staged), yield* messages(id, mine)]).toEqual([["queued"], kept])
        expect((yield* mailsOf(id, "retention_due")).length).toBe(1)

        yield* TestClock.adjust("1 hour")
        yield* applied
        expect(yield* states(staged)).toEqual(["done"])
        expect([yield* messages(id, mine), yield* messages(id, other!.account.accountId)]).toEqual([kept - 2, kept - 2])
        yield* Deletions.recount(id)
        const events = yield* eventsOf(id, "cleanup.scheduled", "cleanup.confirmed", "cleanup.finished")
        expect(events.map(({ action, actor_type }) => [action, actor_type])).toEqual([
          ["cleanup.scheduled", "service"],
          ["cleanup.confirmed", "service"],
          ["cleanup.finished", "service"]
        ])
        expect(events.at(1)?.details).toMatchObject({ messages: 4, pages: events.at(2)?.details.pages })
      }))

    it.effect("begins its next run once the cleanups of the one before have ended, and mails nothing where nothing is due", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { archives: [one], id } = staged
        yield* addOld(staged)
        yield* set(staged, 36)
        yield* applied
        yield* TestClock.adjust("7 days")
        yield* applied
        yield* applied
        expect([yield* states(staged), (yield* mailsOf(id, "retention_due")).length]).toEqual([["done"], 1])
        yield* TestClock.adjust("30 days")
        yield* applied
        expect(yield* states(staged)).toEqual(["queued", "done"])
        yield* TestClock.adjust("7 days")
        yield* applied
        expect([yield* states(staged), yield* messages(id, one!.account.accountId)]).toEqual([["done", "done"], 0])
        expect((yield* mailsOf(id, "retention_due")).length).toBe(2)
      }))

    it.effect("counts anew when a cleanup begins: tails are closed while it waits, and what came meanwhile is deleted", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { archives: [one], id } = staged
        const { accountId } = one!.account
        const kept = yield* messages(id, accountId)
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9000, 40 * aDay, "old")], "live"))
        yield* set(staged, 36)
        yield* applied
        yield* one!.writer.close("all")
        expect(yield* Deletions.countIn(id, "archive_tail", accountId)).toBe(0)
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9001, 40 * aDay, "late")], "sweep"))
        expect((yield* list(staged)).at(0)).toMatchObject({ messages: 1 })
        yield* TestClock.adjust("7 days")
        yield* applied
        expect((yield* list(staged)).at(0)).toMatchObject({ state: "done", messages: 2, deleted_messages: 2 })
        expect(yield* messages(id, accountId)).toBe(kept)
        const { body } = yield* World.send("POST", "/v1/archive/verify", { key: staged.admins.owner.key, body: {} })
        expect(body).toMatchObject({ missing: 0, changed: 0 })
      }))

    it.effect("lets an admin's cleanup of the account run first while its own waits, and waits for one that runs", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { admins, archives: [one], id } = staged
        yield* addOld(staged)
        yield* set(staged, 36)
        yield* applied
        const criteria = { account_ids: [one!.account.accountId], before: day(-37) }
        const preview = yield* World.send("POST", "/v1/archive/cleanups", {
          key: admins.owner.key,
          body: { criteria, stop_saving: false }
        })
        const confirm = World.send("POST", `/v1/archive/cleanups/${preview.body.id}/confirm`, {
          key: admins.owner.key,
          body: { confirm_phrase: preview.body.confirm_phrase }
        })
        expect((yield* confirm).body).toMatchObject({ state: "queued", not_before: null })
        yield* runArchiveCleanups.run
        expect(yield* states(staged)).toEqual(["done", "queued"])
        const waiting = (yield* list(staged)).at(1).id
        const put = (state: string) =>
          World.query<object>(
            id,
            (sql) => sql`update archive_cleanup set state = ${state} where id = ${preview.body.id}`
          )
        const taken = Effect.gen(function*() {
          const cleanups = yield* ArchiveCleanups
          const { organizationId } = staged.archives[0]!.account
          const at = yield* now
          return (yield* (yield* Db).transaction(organizationId, cleanups.take(organizationId, waiting, at)))?.id ??
            null
        })
        expect(yield* taken).toBe(null)
        yield* TestClock.adjust("7 days")
        yield* put("running")
        expect(yield* taken).toBe(null)
        yield* put("done")
        expect(yield* taken).toBe(waiting)
        yield* runArchiveCleanups.run
        expect(yield* states(staged)).toEqual(["done", "done"])
        yield* Deletions.recount(id)
      }))

    it.effect("deletes nothing of a cleanup that is cancelled while it waits, and queues another the day after", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { admins, archives: [one], id } = staged
        yield* addOld(staged)
        const kept = yield* messages(id, one!.account.accountId)
        yield* set(staged, 36)
        yield* applied
        yield* TestClock.adjust("6 days")
        const [waiting] = yield* list(staged)
        const cancelled = yield* World.post(`/v1/archive/cleanups/${waiting.id}/cancel`, admins.owner.key)
        expect([cancelled.status, cancelled.body.state]).toEqual([200, "cancelled"])
        yield* TestClock.adjust("1 day")
        yield* applied
        expect([yield* states(staged), yield* messages(id, one!.account.accountId)]).toEqual([
          ["queued", "cancelled"],
          kept
        ])
        expect((yield* list(staged)).at(0).not_before).toBe(day(14))
      }))

    it.effect("leaves out the accounts that a hold binds which was placed while its cleanup waited", () =>
      Effect.gen(function*() {
        const { accounts, id, kept, staged } = yield* stageWaiting
        const hold = yield* makeHold(id, { accounts: [accounts[1]!], released: null, until: "2026-01-31" })
        yield* TestClock.adjust("7 days")
        yield* runArchiveCleanups.run
        expect((yield* list(staged)).at(0)).toMatchObject({
          state: "done",
          criteria: { account_ids: [accounts[0]] },
          messages: 2,
          deleted_messages: 2
        })
        expect(yield* Effect.forEach(accounts, (account) => messages(id, account))).toEqual([kept - 2, kept])
        const events = yield* eventsOf(id, "cleanup.scheduled", "cleanup.confirmed", "cleanup.finished")
        expect(events.map(({ account_id, details }) => [account_id, details.accounts, details.messages])).toEqual([
          [null, 2, 4],
          [accounts[0], 1, 2],
          [accounts[0], undefined, 2]
        ])
        yield* applied
        yield* TestClock.adjust("1 day")
        yield* applied
        expect(yield* states(staged)).toEqual(["done"])
        yield* World.query<object>(id, (sql) => sql`update archive_hold set released_at = now() where id = ${hold}`)
        yield* TestClock.adjust("1 day")
        yield* applied
        yield* TestClock.adjust("7 days")
        yield* applied
        expect(yield* Effect.forEach(accounts, (account) => messages(id, account))).toEqual([kept - 2, kept - 2])
        yield* Deletions.recount(id)
      }))

    it.effect("is stopped by a hold on all its accounts and by the operator's hold that are placed while its cleanup waits", () =>
      Effect.gen(function*() {
        const { accounts, id, kept, staged } = yield* stageWaiting
        const hold = yield* makeHold(id, { accounts, released: null, until: "2026-01-31" })
        yield* TestClock.adjust("7 days")
        yield* runArchiveCleanups.run
        expect((yield* list(staged)).at(0)).toMatchObject({
          state: "failed",
          error: "archive_held",
          deleted_messages: 0
        })
        expect([...(yield* list(staged)).at(0).criteria.account_ids].sort()).toEqual([...accounts].sort())
        yield* World.query<object>(id, (sql) => sql`update archive_hold set released_at = now() where id = ${hold}`)
        yield* applied
        const { organizationId } = staged.archives[0]!.account
        const holdAll = (since: Date | null) =>
          Effect.gen(function*() {
            const holds = yield* ArchiveHolds
            yield* (yield* Db).transaction(organizationId, holds.holdAll(organizationId, since))
          })
        yield* holdAll(new Date(0))
        yield* TestClock.adjust("7 days")
        yield* runArchiveCleanups.run
        expect(yield* states(staged)).toEqual(["failed", "failed"])
        yield* holdAll(null)
        expect(yield* Effect.forEach(accounts, (account) => messages(id, account))).toEqual([kept, kept])
        yield* applied
        yield* TestClock.adjust("7 days")
        yield* applied
        expect(yield* Effect.forEach(accounts, (account) => messages(id, account))).toEqual([kept - 2, kept - 2])
      }))

    it.effect("goes on where a process has left it, with one mail of all that waits", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(2)
        const { archives, id } = staged
        const [first, second] = archives.map(({ account }) => account.accountId).sort()
        yield* addOld(staged)
        yield* set(staged, 36)
        yield* World.query<object>(
          id,
          (sql) => sql`update archive_retention set reached = ${first!} where organization_id = ${id}`
        )
        yield* Effect.all([applyArchiveRetention.run, applyArchiveRetention.run], { concurrency: "unbounded" })
        expect((yield* list(staged)).map((cleanup: { criteria: object }) => cleanup.criteria)).toEqual([
          expect.objectContaining({ account_ids: [second] })
        ])
        expect((yield* mailsOf(id, "retention_due")).length).toBe(1)
      }))

    it.effect("that is changed cancels the cleanups that wait, and begins 7 days later", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { archives: [one], id } = staged
        yield* addOld(staged)
        const kept = yield* messages(id, one!.account.accountId)
        yield* set(staged, 30)
        yield* applied
        yield* TestClock.adjust("1 day")
        const longer = yield* set(staged, 3650)
        expect([longer.body.begins_at, yield* states(staged)]).toEqual([day(8), ["cancelled"]])
        expect((yield* set(staged, 3650)).body).toEqual(longer.body)
        yield* applied
        yield* TestClock.adjust("1 day")
        const shorter = yield* set(staged, 31)
        expect(shorter.body.begins_at).toBe(day(9))
        expect((yield* mailsOf(id, "retention_set")).length).toBe(2)
        yield* applied
        expect(yield* states(staged)).toEqual(["queued", "cancelled"])
        expect((yield* set(staged, null)).body).toMatchObject({ days: null, begins_at: null })
        const [waited, again] = yield* eventsOf(id, "cleanup.scheduled")
        const cancelled = yield* eventsOf(id, "cleanup.cancelled")
        expect(cancelled.map(({ account_id, actor_admin_id, details, target_id }) => ({
          account_id,
          actor_admin_id,
          details,
          target_id
        }))).toEqual([waited, again].map((event) => ({
          account_id: one!.account.accountId,
          actor_admin_id: staged.admins.owner.id,
          details: { pages: 0, messages: 0, files: 0, bytes: 0 },
          target_id: event?.target_id
        })))
        const events = yield* eventsOf(id, "archive_retention.set")
        expect(events.map(({ actor_admin_id, details }) => [actor_admin_id, details])).toEqual(
          [{ days: 30 }, { days: 3650 }, { days: 31 }, {}]
            .map((details) => [staged.admins.owner.id, details])
        )
        yield* TestClock.adjust("60 days")
        yield* applied
        expect([yield* states(staged), yield* messages(id, one!.account.accountId)]).toEqual([
          ["cancelled", "cancelled"],
          kept
        ])
        expect((yield* set(staged, 29)).body.error.param).toBe("days")
      }))

    it.effect("queues nothing while the operator holds the whole archive, or while it is deleted", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { admins, archives: [one], id } = staged
        const { organizationId } = staged.archives[0]!.account
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9000, 400 * aDay, "old")], "sweep"))
        yield* set(staged, 36)
        const hold = (since: Date | null) =>
          Effect.gen(function*() {
            const holds = yield* ArchiveHolds
            yield* (yield* Db).transaction(organizationId, holds.holdAll(organizationId, since))
          })
        yield* hold(new Date(0))
        for (let days = 0; days < 2; days++) {
          yield* applied
          yield* TestClock.adjust("1 day")
        }
        expect(yield* states(staged)).toEqual([])
        yield* hold(null)
        yield* applied
        expect(yield* states(staged)).toEqual(["queued"])
        yield* TestClock.adjust("7 days")
        yield* applied
        expect(yield* states(staged)).toEqual(["done"])
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9001, 400 * aDay, "old")], "sweep"))
        yield* Deletions.deleteWhole(id, admins.owner.key)
        yield* TestClock.adjust("1 day")
        yield* applied
        expect(yield* states(staged)).toEqual(["done"])
      }))
  })
})
