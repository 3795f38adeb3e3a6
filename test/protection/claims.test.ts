import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { everySlot } from "../../src/domain/accounts/Slot.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as WatchSql from "../../src/layers/sql/protection/MonitorStore.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { AccountLock } from "../../src/ports/accounts/AccountLock.ts"
import { type ClaimedAccount, Monitors } from "../../src/ports/protection/Monitors.ts"
import { Watch } from "../../src/ports/protection/MonitorStore.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import * as World from "../support/world.ts"

/** Takes what is due. */
const claim = Effect.flatMap(
  Monitors,
  (monitors) =>
    Effect.map(monitors.claim({ slots: everySlot, free: 64, room: 64, rooms: new Map() }), ({ accounts }) => accounts)
)

/** Gives accounts back, to be looked at in an hour. */
const finish = Effect.fnUntraced(function*(claimed: Effect.Success<typeof claim>) {
  const next_at = new Date((yield* Clock.currentTimeMillis) + 3_600_000)
  yield* (yield* Monitors).finish(claimed.map((one) => ({ ...one, next_at })))
  return next_at
})

/** Writes a step down that has found nothing, and wants the next look then. */
const writeStep = (watch: Watch["Service"], held: ClaimedAccount, nextAt: Date) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Fixtures.within(
      held.organizationId,
      watch.write(
        held,
        { upserts: [], ended: [], account: {}, monitor: {}, facets: {}, dueAt: null, nextAt, release: false },
        new Date(now)
      )
    ))

describe("12.4 who holds an account", () => {
  forEachDatabase((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      /** An account that is due, and when it is due next. */
      const due = Effect.gen(function*() {
        const { account, admins, id } = yield* arrange()
        yield* World.set(id, "monitor", account, { next_at: new Date(yield* Clock.currentTimeMillis) })
        const nextAt = Effect.map(
          World.query<{ next_at: Date | null }>(
            id,
            (sql) => sql`select next_at from monitor where account_id = ${account}`
          ),
          ([row]) => row?.next_at ?? null
        )
        return { account: AccountId.make(account), admins, id: OrganizationId.make(id), nextAt }
      })

      it.effect("an account is held by one process at a time, and one that held it too long gives nothing back", () =>
        Effect.gen(function*() {
          const { id, nextAt } = yield* due
          const first = yield* claim
          assert.lengthOf(first, 1)
          yield* TestClock.adjust("19 seconds")
          assert.lengthOf(yield* claim, 0)
          yield* TestClock.adjust("1 second")
          const second = yield* claim
          assert.lengthOf(second, 1)
          const guard = yield* AccountLock
          const confirmed = (held: Effect.Success<typeof claim>) =>
            Effect.forEach(held, (one) => Effect.result(Fixtures.within(id, guard.confirm(one)))).pipe(
              Effect.map((all) => all.map((result) => result._tag === "Success" ? result.success : result.failure._tag))
            )
          assert.deepStrictEqual(yield* confirmed(first), ["GuardLost"])
          assert.deepStrictEqual(yield* confirmed(second), second.map(({ epoch }) => epoch))
          yield* Effect.forEach(first, guard.release)
          assert.lengthOf(yield* claim, 0)
          const before = yield* nextAt
          yield* finish(first)
          assert.deepStrictEqual(yield* nextAt, before)
          assert.lengthOf(yield* claim, 0)
          assert.deepStrictEqual(yield* nextAt, before)
          const after = yield* finish(second)
          assert.deepStrictEqual(yield* nextAt, after)
        }))

      it.effect("a deadline is not kept waiting by polls that were due before it", () =>
        Effect.gen(function*() {
          const organization = yield* arrange()
          const { account, id } = organization
          const now = yield* Clock.currentTimeMillis
          const polled = yield* makeWatched(organization)
          yield* World.set(id, "monitor", polled.account, { next_at: new Date(now - 5000) })
          const monitors = yield* Monitors
          // The poll before a deadline may be late itself.
          for (const late of [0, 3000]) {
            yield* World.set(id, "monitor", account, { next_at: new Date(now - late), due_at: new Date(now) })
            for (const rooms of [new Map(), new Map([[id, 0]])]) {
              const { accounts } = yield* monitors.claim({ slots: everySlot, free: 1, room: 1, rooms })
              assert.strictEqual(accounts[0]?.accountId, account)
              yield* World.set(id, "monitor", account, { busy_until: null })
            }
          }
          assert.lengthOf(yield* claim, 2)
        }))

      it.effect("an account whose deadline is yet to come is polled in its turn", () =>
        Effect.gen(function*() {
          const organization = yield* arrange()
          const { account, id } = organization
          const now = yield* Clock.currentTimeMillis
          const polled = yield* makeWatched(organization)
          yield* World.set(id, "monitor", polled.account, { next_at: new Date(now - 5000) })
          yield* World.set(id, "monitor", account, { next_at: new Date(now - 3000), due_at: new Date(now + 1) })
          const monitors = yield* Monitors
          const claimed = yield* Effect.replicateEffect(
            monitors.claim({ slots: everySlot, free: 1, room: 1, rooms: new Map() }),
            3
          )
          assert.deepStrictEqual(
            claimed.map(({ accounts }) => accounts.map(({ accountId }) => String(accountId))),
            [[polled.account], [account], []]
          )
          // The process knows when to ask again.
          assert.deepStrictEqual(claimed.map(({ pressing }) => pressing?.getTime()), [now + 1, now + 1, now + 1])
        }))

      it.effect("a push during a look, or a step, puts off nothing that is due before it", () =>
        Effect.gen(function*() {
          const { account, id, nextAt } = yield* due
          const monitors = yield* Monitors
          const watch = yield* Effect.provide(Watch, WatchSql.layer, { local: true })
          const [held] = yield* claim
          if (held === undefined) return yield* Effect.die("Nothing is due")
          const now = yield* Clock.currentTimeMillis
          const push = (seconds: number) =>
            monitors.push([{ accountId: account, organizationId: id }], {
              at: new Date(now + seconds * 1000),
              look: false
            })
          const write = (seconds: number) => writeStep(watch, held, new Date(now + seconds * 1000))
          const inSeconds = Effect.map(nextAt, (at) => at === null ? null : (at.getTime() - now) / 1000)
          yield* push(10)
          yield* write(60)
          assert.strictEqual(yield* inSeconds, 10)
          yield* write(5)
          assert.strictEqual(yield* inSeconds, 5)
          yield* push(10)
          yield* monitors.finish([{ ...held, next_at: new Date(now + 3000) }])
          assert.strictEqual(yield* inSeconds, 3)
        }))

      it.effect("a pause during a look is not undone by its end", () =>
        Effect.gen(function*() {
          const { account, admins, nextAt } = yield* due
          const claimed = yield* claim
          yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
          const watch = yield* Effect.provide(Watch, WatchSql.layer, { local: true })
          const later = new Date((yield* Clock.currentTimeMillis) + 60_000)
          for (const held of claimed) yield* writeStep(watch, held, later)
          assert.isNull(yield* nextAt)
          yield* finish(claimed)
          assert.isNull(yield* nextAt)
        }))

      it.effect("a change waits for the look, and the look for the change", () =>
        Effect.gen(function*() {
          const { account, id } = yield* due
          const guard = yield* AccountLock
          const claimed = yield* claim
          const refused = yield* Effect.forkChild(Effect.flip(Effect.scoped(guard.acquire(id, account))), {
            startImmediately: true
          })
          while (refused.pollUnsafe() === undefined) {
            yield* TestClock.adjust("1 second")
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
          }
          assert.strictEqual((yield* Fiber.join(refused))._tag, "messenger_unavailable")
          yield* finish(claimed)
          yield* World.set(id, "monitor", account, { next_at: new Date(yield* Clock.currentTimeMillis) })
          yield* Effect.scoped(Effect.gen(function*() {
            yield* guard.acquire(id, account)
            assert.lengthOf(yield* claim, 0)
          }))
          assert.lengthOf(yield* claim, 1)
        }))
    })
  })
})
