/** The part of a worker in the cluster: which slots are its, by `effect/cluster` over rows in PostgreSQL. */
import {
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Layer,
  Metric,
  Option,
  PubSub,
  Schedule,
  Scope,
  Stream
} from "effect"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { leaseTime, type Slot, slotCount } from "../../domain/accounts/Slot.ts"
import { type CloseSlots, Ownership } from "../../ports/messenger/Ownership.ts"
import * as Gauge from "../Gauge.ts"
import { hostInstant, type Instant } from "../Instant.ts"
import * as DatabaseClock from "../postgres/DatabaseClock.ts"
import * as SlotLeases from "../sql/protection/SlotLeases.ts"
import { Fences } from "./Fences.ts"
import * as Leases from "./Leases.ts"
import { Listener } from "./Listener.ts"
import { SettledShare } from "./SettledShare.ts"

export interface Options {
  /** The time that slots are a process's without renewal, in whole seconds by the database's clock; `leaseTime` by default. */
  readonly lease?: Duration.Input
  /** The time before that end that a slot is used no more; 2 seconds by default. */
  readonly margin?: Duration.Input
  /** The share of slots, compared with other workers; 1 by default. */
  readonly weight?: number
  /** The two clocks that bound the use of slots; those of the host by default. */
  readonly instant?: () => Instant
}

/** The library asks for the other processes so often; `Leases` asks the database where that may have changed. */
const askInterval = Duration.millis(250)

/** The interval at which ends of terms are looked for. */
const lapseInterval = Duration.millis(100)

const gains = Metric.counter("console_slots_gained_total", {
  description: "Slots of accounts that this process has got",
  incremental: true
})

const lapses = Metric.counter("console_slots_lapsed_total", {
  description: "Slots of accounts that this process lost because their lease was not renewed in time",
  incremental: true
})

/** The library's storage, once the database answers; it needs a connection of its own to begin. */
const storage = Effect.gen(function*() {
  const ready = yield* Deferred.make<RunnerStorage["Service"]>()
  const scope = yield* Effect.scope
  const attempt = Effect.gen(function*() {
    const own = yield* Scope.fork(scope)
    const context = yield* Layer.buildWithScope(SqlRunnerStorage.layerStorage({}), own)
    yield* Deferred.succeed(ready, Context.get(context, RunnerStorage))
  })
  yield* Effect.forkScoped(Effect.retry(Effect.sandbox(attempt), Schedule.spaced("1 second")))
  const use = <A, E>(call: (storage: RunnerStorage["Service"]) => Effect.Effect<A, E>) =>
    Effect.flatMap(Deferred.await(ready), call)
  return RunnerStorage.of({
    register: (runner, healthy) => use((one) => one.register(runner, healthy)),
    unregister: (address) => use((one) => one.unregister(address)),
    getRunners: use((one) => one.getRunners),
    setRunnerHealth: (address, healthy) => use((one) => one.setRunnerHealth(address, healthy)),
    acquire: (address, shards) => use((one) => one.acquire(address, shards)),
    refresh: (address, shards) => use((one) => one.refresh(address, shards)),
    release: (address, shard) => use((one) => one.release(address, shard)),
    releaseAll: (address) => use((one) => one.releaseAll(address))
  })
})

const logLapse = Effect.logWarning(
  "The right to watch accounts could not be renewed in time: their sessions are closed"
)

const logShare = (slots: number) =>
  Effect.logInfo(
    slots === 0 ? "This process watches no accounts" : `This process watches accounts: ${slots} of ${slotCount} slots`
  )

/**
 * Owns the slots that the cluster gives this process. All of it runs in real time, whatever the `Clock` says, because it
 * is the messenger that ends a key, and by a clock that is never set back: for so long the library would take no slots.
 * Each process has a name of its own: none inherits the leases of an earlier one at its address. Other processes reach it
 * at its `Listener`, if it has one.
 */
export const layer = (
  options: Options = {}
): Layer.Layer<Ownership, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =>
  Layer.effect(
    Ownership,
    Effect.gen(function*() {
      const { instant = hostInstant, weight = 1 } = options
      const lease = Duration.fromInputUnsafe(options.lease ?? leaseTime)
      const margin = Duration.fromInputUnsafe(options.margin ?? "2 seconds")
      const sql = yield* SqlClient.SqlClient
      const listener = yield* Effect.serviceOption(Listener)
      const { host, name, port } = Option.isSome(listener)
        ? listener.value
        : { host: "", name: yield* (yield* SecureRandom.SecureRandom).uuidV7(), port: 0 }
      const fences = new Fences(instant)
      const closers = new Set<CloseSlots>()
      const published = yield* PubSub.unbounded<ReadonlySet<Slot>>()
      const config = ShardingConfig.layer({
        runnerAddress: Option.some(RunnerAddress.make(`${host}/${name}`, port)),
        runnerShardWeight: weight,
        shardsPerGroup: slotCount,
        shardLockExpiration: lease,
        shardLockRefreshInterval: Duration.divideUnsafe(lease, 3),
        shardLockDisableAdvisory: true,
        refreshAssignmentsInterval: askInterval,
        entityMessagePollInterval: Duration.divideUnsafe(lease, 6),
        runnerJoinDebounce: Duration.times(Duration.divideUnsafe(lease, 12), 5),
        simulateRemoteSerialization: false
      })
      const real = Effect.provideService(Clock.Clock, DatabaseClock.ofHost().clock)

      const share = new SettledShare()
      const follow = Effect.gen(function*() {
        const lapsed = fences.lapse()
        const settled = share.round(fences.owned().size)
        if (settled !== null) yield* logShare(settled)
        const changed = fences.takeChanges()
        if (changed.size === 0) return
        yield* Metric.update(lapses, lapsed)
        yield* Metric.update(gains, [...changed].filter((slot) => fences.term(slot) !== null).length)
        if (lapsed > 0) yield* logLapse
        yield* PubSub.publish(published, changed)
      })

      yield* Gauge.show(
        "console_watching",
        "1 in a process that watches accounts, 0 in one that waits",
        () => fences.owned().size === 0 ? 0 : 1
      )
      yield* Gauge.show(
        "console_slots_owned",
        `Slots of accounts that this process has, of ${slotCount}`,
        () => fences.owned().size
      )

      const leases = Leases.make(
        yield* real(Effect.provide(storage, config)),
        fences,
        {
          lease,
          margin,
          instant,
          close: (slots) =>
            Effect.forEach([...closers], (close) => close(slots), { concurrency: "unbounded", discard: true }),
          ...SlotLeases.make(sql, lease)
        }
      )
      yield* Effect.forkScoped(real(Effect.repeat(follow, Schedule.spaced(lapseInterval))))
      yield* real(Layer.build(
        Sharding.layer.pipe(
          Layer.provide(
            Layer.mergeAll(Layer.succeed(RunnerStorage, leases), RunnerHealth.layerNoop, Runners.layerNoop)
          ),
          Layer.provide(MessageStorage.layerNoop),
          Layer.provide(config)
        )
      ))
      return {
        term: (slot) => fences.term(slot),
        owned: () => fences.owned(),
        changes: Stream.unwrap(Effect.map(PubSub.subscribe(published), (later) =>
          Stream.concat(
            Stream.sync(() => fences.owned()),
            Stream.fromSubscription(later)
          ))),
        closing: (close) =>
          Effect.acquireRelease(
            Effect.sync(() => void closers.add(close)),
            () => Effect.sync(() => void closers.delete(close))
          )
      }
    })
  )
