import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Metric, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { vi } from "vitest"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { Slot, slotCount, slotOf } from "../../src/domain/accounts/Slot.ts"
import * as Runner from "../../src/layers/cluster/Runner.ts"
import * as Owned from "../../src/layers/messenger/Owned.ts"
import * as Simulated from "../../src/layers/messenger/simulated/Simulated.ts"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import { metric } from "../support/metrics.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { postgresLayer } from "../support/postgres/databaseRoles.ts"
import { openWay } from "../support/postgres/silentWay.ts"
import { makeWatched } from "../support/protection/watched.ts"
import { running } from "../support/replicas.ts"
import * as World from "../support/world.ts"

/** A lease that ends soon; all of it is in real time. */
const short = { lease: "3 seconds", margin: "500 millis" } as const

/** A process that watches; it reaches the messenger, which the simulated one keeps in the same database, otherwise. */
const watcher = (url: string, direct = url, options: Runner.Options = short) => {
  const world = World.world(postgresLayer(url))
  const messenger = Layer.fresh(Simulated.layerSql).pipe(Layer.provide(Layer.fresh(postgresLayer(direct))))
  return running(
    Worker.layer().pipe(
      Layer.provideMerge(Owned.layer),
      Layer.provideMerge(Layer.provideMerge(Layer.merge(Runner.layer(options), messenger), world)),
      // Of its own, as of a process.
      Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
    )
  )
}

const owned = Effect.map(Ownership, (ownership) => ownership.owned())
const steps = Effect.flatMap(Engine, ({ tick }) => Effect.map(tick, (report) => report.steps))

const until = <A, R>(ask: Effect.Effect<A, never, R>, holds: (answer: A) => boolean) =>
  Effect.timeout(Effect.repeat(ask, { until: holds, schedule: Schedule.spaced(50) }), 15_000)

/** Runs in a process of its own, which ends when it is told to. */
const started = Effect.fnUntraced(function*(...args: Parameters<typeof watcher>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return { run: yield* Scope.provide(watcher(...args), scope), stop: Scope.close(scope, Exit.void) }
})

const isOwner = (slot: Slot) => Effect.map(owned, (slots) => slots.has(slot))

describe("12.4 of several processes on one database", () => {
  it.live(
    "I9: each account is watched by one, and by another one when that is cut off, and when it stops",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const way = yield* Effect.acquireRelease(Effect.promise(() => openWay(url)), ({ close }) => Effect.sync(close))
        const { run: one } = yield* started(way.url, url)
        yield* until(one(owned), ({ size }) => size === slotCount)
        const { run: two, stop } = yield* started(url)
        // Both have a share, and no slot is both's at any moment.
        const shares = Effect.gen(function*() {
          const [first, second] = [yield* one(owned), yield* two(owned)]
          for (const slot of second) assert.isFalse(first.has(slot) && (yield* one(isOwner(slot))), `slot ${slot}`)
          return [first.size, second.size] as const
        })
        const [, given] = yield* until(shares, ([first, second]) => second > 0 && first + second === slotCount)
        assert.isAtLeast(yield* one(metric("console_slots_handed_over_total")), given)
        // The second one has its slots for as long as it has lived, the first one its own for longer.
        const { workers } = yield* two(DatabaseFacts.facts)
        const [earlier, later] = (workers?.living ?? []).map(({ since }) => since?.getTime() ?? NaN).toSorted((a, b) =>
          a - b
        )
        assert.isBelow(earlier ?? NaN, later ?? NaN)
        assert.strictEqual(workers?.free_slots, 0)

        const organization = yield* two(World.makeOrganization())
        // An account of the first process.
        const watched = yield* two(makeWatched(organization)).pipe(
          Effect.repeat({ until: ({ account }) => one(isOwner(slotOf(AccountId.make(account)))) })
        )
        const { account, sessionRef } = watched
        const slot = slotOf(AccountId.make(account))
        const makeDue = World.query(
          organization.id,
          (sql) => sql`update monitor set next_at = '2020-01-01', busy_until = null where account_id = ${account}`
        )
        const due = two(makeDue)
        // Others that were made on the way are not watched.
        yield* two(World.query(
          organization.id,
          (sql) => sql`update monitor set next_at = null where account_id <> ${account}`
        ))
        const ended = SqlClient.SqlClient.use((sql) =>
          Tenant.directory(sql)(sql`select reason from simulated_ended_session where session_ref = ${sessionRef}`)
        )
        yield* due
        assert.strictEqual(yield* two(steps), 0)
        assert.strictEqual(yield* one(steps), 1)
        const path = `/v1/accounts/${account}/messenger-profile`
        assert.strictEqual((yield* one(World.get(path, organization.admins.owner.key))).status, 200)
        const refused = yield* two(World.get(path, organization.admins.owner.key))
        assert.deepStrictEqual([refused.status, refused.body.error?.code], [503, "messenger_unavailable"])

        // An open session is used without asking the database, until the lease is over.
        const live = yield* one(Effect.flatMap(MessengerSession, (messenger) => messenger.open(sessionRef, slot)))
        yield* live.authorizations
        way.freeze()
        yield* live.authorizations
        yield* until(two(owned), ({ size }) => size === slotCount)
        assert.strictEqual((yield* one(owned)).size, 0)
        yield* due
        // It is polled once more because its slot has passed on.
        assert.isAtLeast(yield* two(steps), 1)
        assert.strictEqual((yield* Effect.flip(live.authorizations))._tag, "PlatformUnavailable")
        assert.strictEqual((yield* two(World.get(path, organization.admins.owner.key))).status, 200)

        way.thaw()
        yield* until(shares, ([first, second]) => first > 0 && first + second === slotCount)
        assert.deepStrictEqual(yield* two(ended), [])

        // One that stops hands over immediately.
        yield* stop
        yield* until(one(owned), ({ size }) => size === slotCount)
        yield* one(makeDue)
        assert.isAtLeast(yield* one(steps), 1)
        assert.strictEqual((yield* one(World.get(path, organization.admins.owner.key))).status, 200)
        assert.strictEqual(yield* one(metric("console_watching")), 1)
        assert.strictEqual(yield* one(metric("console_slots_owned")), slotCount)
        assert.deepStrictEqual(yield* one(ended), [])
      }),
    60_000
  )

  it.live(
    "a process that was frozen uses no key when it wakes, by whichever clock the time is over",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        for (const clock of ["monotonic", "wall"] as const) {
          const slept = { monotonic: 0, wall: 0 }
          const instant = () => ({ monotonic: performance.now() + slept.monotonic, wall: Date.now() + slept.wall })
          const { run, stop } = yield* started(url, url, { lease: "60 seconds", margin: "500 millis", instant })
          yield* until(run(owned), ({ size }) => size === slotCount)
          const term = yield* run(Effect.map(Ownership, (ownership) => ownership.term))
          const slot = Slot.make(7)
          assert.isNotNull(term(slot))
          slept[clock] = 50_000
          assert.isNotNull(term(slot))
          slept[clock] = 59_900
          assert.isNull(term(slot))
          yield* stop
        }
      }),
    60_000
  )

  it.live(
    "a step of the wall clock back, while another process joins, delays nothing",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const { run: one } = yield* started(url)
        yield* until(one(owned), ({ size }) => size === slotCount)
        const now = Date.now
        const ahead = vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000)
        const { run: two } = yield* started(url).pipe(
          Effect.tap(Effect.sleep("2 seconds")),
          Effect.ensuring(Effect.sync(() => ahead.mockRestore()))
        )
        const shares = Effect.map(Effect.all([one(owned), two(owned)]), (all) => all.map(({ size }) => size))
        yield* until(shares, ([first = 0, second = 0]) => second > 0 && first + second === slotCount)
      }),
    60_000
  )
})
