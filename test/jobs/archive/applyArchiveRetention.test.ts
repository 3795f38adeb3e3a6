import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { applyArchiveRetention } from "../../../src/jobs/archive/apply_archive_retention.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import { ArchiveHolds } from "../../../src/ports/archive/ArchiveHolds.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../../support/archive/archives.ts"
import { makeHold } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { pglite } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { chatId, seen } = Archives
const aDay = 24 * 60 * 60

type Staged = Effect.Success<ReturnType<typeof Deletions.stage>>

const set = ({ admins }: Pick<Staged, "admins">, days: number | null) =>
  World.send("PUT", "/v1/archive/retention", { key: admins.owner.key, body: { days } })

const mailsOf = (id: string, kind: string) =>
  World.query<object>(id, (sql) => sql`select 1 from mail where organization_id = ${id} and kind = ${kind}`)

const messages = (id: string, accountId: string) =>
  Effect.map(
    World.query<{ messages: string }>(
      id,
      (sql) => sql`select archive_messages::text as messages from archive_state where account_id = ${accountId}`
    ),
    ([row]) => Number(row?.messages)
  )

const applied = Effect.andThen(applyArchiveRetention.run, runArchiveCleanups.run)

describe("the retention of an archive", () => {
  layer(World.world(pglite))((it) => {
    it.effect("deletes what is older every day, from 7 days after the owner was mailed, and what a hold keeps not at all", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(2)
        const { archives: [one, other], id } = staged
        const [mine, theirs] = [one!.account.accountId, other!.account.accountId]
        const old = [seen(9000, 40 * aDay, "old"), seen(9001, 35 * aDay, "old")]
        for (const archive of [one!, other!]) {
          yield* Archives.commit(archive, archive.writer.append(chatId, old, "sweep"))
        }
        const hold = yield* makeHold(id, { accounts: [theirs], released: null, until: "2026-01-31" })
        const kept = yield* messages(id, mine)
        const { body } = yield* set(staged, 36)
        expect([body.days, body.begins_at]).toEqual([36, new Date(Archives.beginning + 7 * aDay * 1000).toISOString()])
        expect((yield* mailsOf(id, "retention_set")).length).toBe(1)
        const events = (yield* World.journal(id)).filter(({ action }) => action === "archive_retention.set")
        expect(events.map(({ actor_admin_id, details }) => [actor_admin_id, details])).toEqual([
          [staged.admins.owner.id, { days: 36 }]
        ])
        yield* applied
        expect(yield* messages(id, mine)).toBe(kept)

        yield* TestClock.adjust("7 days")
        yield* applied
        expect(yield* messages(id, mine)).toBe(kept - 2)
        expect(yield* messages(id, theirs)).toBe(kept)
        yield* World.query<object>(id, (sql) => sql`update archive_hold set released_at = now() where id = ${hold}`)
        yield* applied
        expect(yield* messages(id, theirs)).toBe(kept)
        yield* TestClock.adjust("1 day")
        yield* applied
        expect(yield* messages(id, theirs)).toBe(kept - 2)
        yield* TestClock.adjust("40 days")
        yield* applied
        expect(yield* messages(id, mine)).toBe(0)
        yield* Deletions.recount(id)
        const list = yield* World.get("/v1/archive/cleanups", staged.admins.owner.key)
        expect(list.body.data.map(({ created_by, state }: { created_by: null; state: string }) => [created_by, state]))
          .toEqual([[null, "done"], [null, "done"], [null, "done"]])
      }))

    it.effect("queues nothing while the operator holds the whole archive, or while it is deleted", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { admins, archives: [one], id } = staged
        const { organizationId } = one!.account
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9000, 400 * aDay, "old")], "sweep"))
        yield* set(staged, 36)
        yield* TestClock.adjust("7 days")
        const hold = (since: Date | null) =>
          Effect.gen(function*() {
            const holds = yield* ArchiveHolds
            yield* (yield* Db).transaction(organizationId, holds.holdAll(organizationId, since))
          })
        const states = Effect.map(
          World.get("/v1/archive/cleanups", admins.owner.key),
          ({ body }) => body.data.map(({ state }: { state: string }) => state)
        )
        yield* hold(new Date(0))
        for (let day = 0; day < 2; day++) {
          yield* applied
          yield* TestClock.adjust("1 day")
        }
        expect(yield* states).toEqual([])
        yield* hold(null)
        yield* applied
        expect(yield* states).toEqual(["done"])
        yield* Archives.commit(one!, one!.writer.append(chatId, [seen(9001, 400 * aDay, "old")], "sweep"))
        yield* Deletions.deleteWhole(id, admins.owner.key)
        yield* TestClock.adjust("1 day")
        yield* applied
        expect(yield* states).toEqual(["done"])
      }))

    it.effect("that is longer begins at once and tells nobody, and without one everything is kept", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { archives: [one], id } = staged
        const first = yield* set(staged, 30)
        yield* TestClock.adjust("1 day")
        const longer = yield* set(staged, 365)
        expect(longer.body.begins_at).toBe(first.body.begins_at)
        expect((yield* set(staged, 365)).body).toEqual(longer.body)
        const shorter = yield* set(staged, 31)
        expect(Date.parse(shorter.body.begins_at)).toBe(Date.parse(shorter.body.updated_at) + 7 * aDay * 1000)
        expect((yield* mailsOf(id, "retention_set")).length).toBe(2)
        expect((yield* set(staged, null)).body).toMatchObject({ days: null, begins_at: null })
        yield* TestClock.adjust("60 days")
        yield* applied
        expect(yield* messages(id, one!.account.accountId)).toBe(one!.messages)
        expect((yield* set(staged, 29)).body.error.param).toBe("days")
      }))
  })
})
