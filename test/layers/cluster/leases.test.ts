/** Leases of slots against a model of their rows, on a virtual clock, and a statement of theirs on PostgreSQL. */
import { assert, describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { PersistenceError } from "effect/cluster/ClusterError"
import { Runner } from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import type { RunnerStorage } from "effect/cluster/RunnerStorage"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { Slot } from "../../../src/domain/accounts/Slot.ts"
import { Fences } from "../../../src/layers/cluster/Fences.ts"
import * as Leases from "../../../src/layers/cluster/Leases.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import * as SlotLeases from "../../../src/layers/sql/protection/SlotLeases.ts"
import { tried } from "../../support/drawn.ts"
import { metric } from "../../support/metrics.ts"
import { postgresUrl } from "../../support/postgres/database.ts"
import { postgresLayer } from "../../support/postgres/databaseRoles.ts"

const lease = 12_000
const slots = [Slot.make(0), Slot.make(1)]
const shards = slots.map(Leases.shardOf)

interface Row {
  readonly owner: string
  readonly at: number
}

/** The rows as the library's statements and ours treat them; each statement takes time before and after it acts. */
class Rows {
  now = 0
  readonly rows = new Map<string, Row>()
  /** The time before a statement acts and after it, in ms; the second is null where its answer is lost. */
  way: readonly [number, number | null] = [0, 0]
  away = false
  /** The connection of the library's statements was lost, and is not open again. */
  isStuck = false

  readonly statement = <A>(act: () => A): Effect.Effect<A, PersistenceError> => {
    const [before, after] = this.way
    if (this.away) return Effect.fail(new PersistenceError({ cause: new Error("away") }))
    // It reaches the database, though nobody waits for its answer by then.
    return Effect.forkDetach(Effect.delay(Effect.sync(act), before), { startImmediately: true }).pipe(
      Effect.flatMap(Fiber.join),
      (done) => after === null ? Effect.andThen(done, Effect.never) : Effect.tap(done, () => Effect.sleep(after))
    )
  }

  isMine(owner: string, shard: string): boolean {
    return this.rows.get(shard)?.owner === owner
  }

  readonly refresh = (owner: string, asked: ReadonlyArray<string>): ReadonlyArray<string> =>
    asked.filter((shard) => {
      if (!this.isMine(owner, shard)) return false
      this.rows.set(shard, { owner, at: this.now })
      return true
    })

  storage(): RunnerStorage["Service"] {
    const acquire = (owner: string, asked: ReadonlyArray<string>) =>
      asked.filter((shard) => {
        const row = this.rows.get(shard)
        const free = row === undefined || row.owner === owner || row.at < this.now - lease
        if (free) this.rows.set(shard, { owner, at: this.now })
        return free
      })
    const byName = new Map(shards.map((shard) => [shard.toString(), shard]))
    const found = (names: ReadonlyArray<string>) => names.flatMap((name) => byName.get(name) ?? [])
    return {
      register: () => Effect.die("unused"),
      unregister: () => Effect.void,
      getRunners: Effect.succeed([]),
      setRunnerHealth: () => Effect.void,
      acquire: (address, all) => this.statement(() => found(acquire(Leases.ownerOf(address), [...all].map(String)))),
      refresh: (address, all) =>
        this.isStuck
          ? Effect.never
          : this.statement(() => found(this.refresh(Leases.ownerOf(address), [...all].map(String)))),
      release: () => Effect.die("unused"),
      releaseAll: () => Effect.die("unused")
    }
  }

  /** The times at which processes were asked for, and the time of the other one's last renewal. */
  readonly asked: Array<number> = []
  renewedAt = 0

  alive() {
    this.asked.push(this.now)
    const silentFor = this.now - this.renewedAt
    const runner = Runner.encodeSync(
      Runner.make({ address: RunnerAddress.make("b", 1), groups: ["default"], weight: 1 })
    )
    return silentFor < lease ? [{ runner, healthy: true, silentFor }] : []
  }

  /** Rows that were given back while their owner had connections. */
  readonly givenInUse: Array<string> = []

  readonly giveBack = (connected: ReadonlySet<Slot>) => (owner: string, given: ReadonlyArray<string>) =>
    Effect.flatMap(
      this.statement(() =>
        given.filter((shard) => this.isMine(owner, shard)).map((shard) => [shard, this.rows.get(shard)?.at] as const)
      ),
      (known) =>
        this.statement(() => {
          let deleted = 0
          for (const [shard, at] of known) {
            if (!this.isMine(owner, shard) || this.rows.get(shard)?.at !== at) continue
            this.rows.delete(shard)
            deleted++
            if (slots.some((slot) => connected.has(slot) && Leases.shardOf(slot).toString() === shard)) {
              this.givenInUse.push(`${shard} of ${owner}`)
            }
          }
          return deleted
        })
    )
}

/** A process: its leases, its fences, and the slots whose connections are open. */
const process = (rows: Rows, name: string, closingTakes: () => number) => {
  const fences = new Fences(() => ({ monotonic: rows.now, wall: rows.now }))
  const connected = new Set<Slot>()
  const storage = Leases.make(rows.storage(), fences, {
    lease: Duration.millis(lease),
    margin: Duration.seconds(2),
    instant: () => ({ monotonic: rows.now, wall: rows.now }),
    close: (ended) =>
      Effect.sync(() => {
        for (const slot of ended) connected.delete(slot)
      }).pipe(Effect.delay(closingTakes())),
    renew: (owner, asked) => rows.statement(() => rows.refresh(owner, asked)),
    giveBack: rows.giveBack(connected),
    alive: Effect.sync(() => rows.alive())
  })
  return { address: RunnerAddress.make(name, 1), connected, fences, name: `${name}:1`, storage }
}

const command = fc.record({
  who: fc.integer({ min: 0, max: 1 }),
  slot: fc.integer({ min: 0, max: 1 }),
  act: fc.constantFrom("acquire", "acquire", "refresh", "refresh", "release", "releaseAll"),
  before: fc.constantFrom(0, 0, 0, 100, 4000, 13_000, 30_000),
  after: fc.constantFrom(0, 0, 0, 100, 2000, null),
  away: fc.constantFrom(false, false, false, true),
  stuck: fc.constantFrom(false, false, true),
  closing: fc.constantFrom(0, 0, 500, 7000),
  then: fc.constantFrom(0, 50, 1000, 4000, 4000, 9000, 12_100)
})

describe("leases of slots", () => {
  it.effect("L1 to L3: whatever fails, waits or comes late, no slot is two processes', nor given away in use", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), (commands) =>
          Effect.runPromise(
            Effect.gen(function*() {
              const rows = new Rows()
              let closing = 0
              const all = [process(rows, "one", () => closing), process(rows, "two", () => closing)] as const
              const check = () => {
                for (const slot of slots) {
                  const owners = all.filter(({ fences }) => fences.term(slot) !== null)
                  assert.isAtMost(owners.length, 1, `slot ${slot} at ${rows.now}`)
                  for (const owner of owners) {
                    // It is the one whose row it is, for longer than it uses the slot.
                    const row = rows.rows.get(Leases.shardOf(slot).toString())
                    assert.strictEqual(row?.owner, owner.name)
                    assert.isAtLeast((row?.at ?? 0) + lease, rows.now)
                    owner.connected.add(slot)
                  }
                }
                assert.deepStrictEqual(rows.givenInUse, [])
              }
              const pass = Effect.fnUntraced(function*(millis: number) {
                for (let left = millis; left > 0; left -= 100) {
                  rows.now += 100
                  yield* TestClock.adjust(100)
                  check()
                }
              })
              for (const { act, after, away, before, closing: takes, slot, stuck, then, who } of commands) {
                rows.way = [before, after]
                rows.away = away
                rows.isStuck = stuck
                closing = takes
                const { address, storage } = all[who === 0 ? 0 : 1]
                const shard = shards[slot] ?? Leases.shardOf(Slot.make(slot))
                const call = act === "acquire" || act === "refresh"
                  ? storage[act](address, [shard])
                  : act === "release"
                  ? storage.release(address, shard)
                  : storage.releaseAll(address)
                yield* Effect.forkDetach(Effect.exit(call), { startImmediately: true })
                check()
                yield* pass(then)
              }
              yield* pass(2000)
            }).pipe(Effect.provide([TestClock.layer(), Logger.layer([])]), Effect.scoped)
          )),
        tried(60)
      )
    ))

  it.effect("asks for the other processes six times a lease, and at each call while one of them has missed a renewal", () =>
    Effect.gen(function*() {
      const rows = new Rows()
      const { storage } = process(rows, "a", () => 0)
      const known = Effect.fnUntraced(function*(until: number) {
        let runners: ReadonlyArray<unknown> = []
        for (; rows.now < until; rows.now += 250) {
          runners = yield* storage.getRunners
          yield* TestClock.adjust("250 millis")
        }
        return runners.length
      })
      expect(yield* known(4000)).toBe(1)
      expect(rows.asked).toEqual([0, 2000])
      rows.renewedAt = 4000
      expect(yield* known(10_000)).toBe(1)
      expect(rows.asked.slice(2)).toEqual([4000, 6000, 8000])
      expect(yield* known(16_000)).toBe(1)
      expect(rows.asked.slice(5)).toEqual([10_000, ...Array.from({ length: 16 }, (_, n) => 12_000 + n * 250)])
      expect(yield* known(16_250)).toBe(0)
    }))

  it.effect("a worker counts the slots that it gives back, and none of which another one has the row", () =>
    Effect.gen(function*() {
      const rows = new Rows()
      const { address, storage } = process(rows, "one", () => 0)
      const count = metric("console_slots_handed_over_total")
      const earlier = yield* count
      yield* storage.acquire(address, shards)
      rows.rows.set(String(shards[0]), { owner: "two:1", at: rows.now })
      yield* storage.releaseAll(address)
      assert.strictEqual((yield* count) - earlier, 1)
      yield* storage.releaseAll(address)
      assert.strictEqual((yield* count) - earlier, 1)
    }))

  it.effect("a slot whose row is about to run out is got a quarter of a second later at most", () =>
    Effect.gen(function*() {
      const rows = new Rows()
      const { address, storage } = process(rows, "one", () => 0)
      for (const shard of shards) rows.rows.set(String(shard), { owner: "two:1", at: rows.now })
      rows.now = lease - 100
      const acquiring = yield* Effect.forkChild(storage.acquire(address, shards), { startImmediately: true })
      for (const until = lease + 250; rows.now < until; rows.now += 50) yield* TestClock.adjust(50)
      assert.deepStrictEqual(acquiring.pollUnsafe(), Exit.succeed(shards))
    }))

  it.effect("a slot that is given back is free at once, although a renewal of it is asked for or under way", () =>
    Effect.gen(function*() {
      for (const asked of [0, 40]) {
        const rows = new Rows()
        const { address, storage } = process(rows, "one", () => 0)
        const pass = Effect.fnUntraced(function*(millis: number) {
          for (const until = rows.now + millis; rows.now < until; rows.now += 10) yield* TestClock.adjust(10)
        })
        yield* storage.acquire(address, shards)
        rows.way = [50, 0]
        yield* Effect.forkChild(storage.releaseAll(address), { startImmediately: true })
        yield* pass(asked)
        // It reaches the database after the rows were read to be given back, and before they are.
        rows.way = [90 - asked, 0]
        yield* Effect.forkChild(storage.refresh(address, shards), { startImmediately: true })
        yield* pass(1000)
        assert.strictEqual(rows.rows.size, 0, `asked after ${asked} ms`)
      }
    }))

  it.effect("an outage of 5 seconds ends no term, although the renewals that the library asks for all fail or wait", () =>
    Effect.gen(function*() {
      const rows = new Rows()
      const { address, fences, storage } = process(rows, "one", () => 0)
      const pass = Effect.fnUntraced(function*(until: number) {
        for (; rows.now < until; rows.now += 100) yield* TestClock.adjust(100)
      })
      yield* storage.acquire(address, shards)
      yield* pass(3900)
      rows.away = true
      yield* pass(4000)
      yield* storage.refresh(address, shards)
      rows.isStuck = true
      yield* pass(8000)
      yield* Effect.forkChild(storage.refresh(address, shards), { startImmediately: true })
      yield* pass(9200)
      rows.away = false
      yield* pass(11_900)
      assert.deepStrictEqual(slots.map((slot) => fences.term(slot) !== null), [true, true])
    }).pipe(Effect.provide([TestClock.layer(), Logger.layer([])])))
})

it.effect("a renewal over any connection moves the rows that are the owner's, and says which", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { renew } = SlotLeases.make(sql, Duration.millis(lease))
    yield* Tenant.directory(sql)(sql`
      insert into cluster_locks (shard_id, address, acquired_at)
      values ('default:1', 'one', '2020-01-01'), ('default:2', 'two', '2020-01-01'), ('default:3', 'one', '2020-01-01')`)
    yield* Tenant.directory(sql)(sql`
      insert into cluster_runners (address, runner, last_heartbeat)
      values ('one', '', '2020-01-01'), ('two', '', '2020-01-01')`)
    assert.deepStrictEqual(yield* renew("one", ["default:1", "default:2", "default:4"]), ["default:1"])
    const moved = yield* Tenant.directory(sql)(sql<{ readonly name: string }>`
      select shard_id as name from cluster_locks where acquired_at > now() - interval '1 minute'
      union all select address from cluster_runners where last_heartbeat > now() - interval '1 minute'`)
    assert.deepStrictEqual(moved.map(({ name }) => name), ["default:1", "one"])
  }).pipe(Effect.provide(Layer.unwrap(Effect.map(postgresUrl, postgresLayer)))))
