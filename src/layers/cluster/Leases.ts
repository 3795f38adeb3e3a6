/**
 * Leases of slots over the library's storage of them.
 *
 * The library decides which process shall have which slot, and keeps the rows. It would go on using a slot after the
 * process was frozen, drop every slot at the first renewal that fails, and give a slot away while its connections are
 * open; this stands between. Laws:
 *
 * - A slot is used only until some time before its row ends, counted from before the statement was sent.
 * - A renewal that fails changes nothing: the slot is used until that moment.
 * - A row is given away only after what uses its keys was closed; where that takes too long the row runs out.
 */
import { Clock, Deferred, Duration, Effect, Equal, Fiber, Metric, Option, Schedule } from "effect"
import { PersistenceError } from "effect/cluster/ClusterError"
import { Runner } from "effect/cluster/Runner"
import type { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import { Slot } from "../../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { CloseSlots } from "../../ports/messenger/Ownership.ts"
import { type Instant, plus } from "../Instant.ts"
import type { AliveRow } from "../sql/protection/SlotLeases.ts"
import type { Fences } from "./Fences.ts"

type Storage = RunnerStorage["Service"]
type Owner = Parameters<Storage["release"]>[0]

export interface Options {
  /** The time that a row lasts without renewal, by the database's clock. */
  readonly lease: Duration.Duration
  /** The time before the end of a row that its slot is used no more, because clocks run at different rates. */
  readonly margin: Duration.Duration
  readonly instant: () => Instant
  /** Closes what uses the slots. */
  readonly close: CloseSlots
  /** The processes whose slots have not run out. */
  readonly alive: Effect.Effect<ReadonlyArray<AliveRow>, PersistenceError | ServiceUnavailable>
  /** Renews those of these rows that are the owner's, over any connection, and returns them. */
  readonly renew: (
    owner: string,
    shards: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, PersistenceError | ServiceUnavailable>
  /**
   * Deletes the owner's rows of these slots as they are at the call, and returns their number. One that reaches the
   * database late, after the owner has got a slot again, must not delete that row.
   */
  readonly giveBack: (
    owner: string,
    shards: ReadonlyArray<string>
  ) => Effect.Effect<number, PersistenceError | ServiceUnavailable>
}

/** The slots that are to be given back together. */
interface Batch {
  readonly slots: Set<Slot>
  readonly done: Deferred.Deferred<void>
}

/** The processes as they were last asked for, which holds until then. */
interface Seen {
  readonly runners: ReadonlyArray<readonly [Runner, boolean]>
  readonly at: number
  readonly until: number
}

const group = "default"
export const shardOf = (slot: Slot): ShardId.ShardId => ShardId.make(group, slot + 1)
const slotOf = ({ id }: ShardId.ShardId): Slot => Slot.make(id - 1)

/** The owner of a row as the library writes it. */
export const ownerOf = ({ host, port }: Owner): string => `${host}:${port}`

/** The longest time that closing what uses slots delays their handover. */
const closeTimeout = Duration.seconds(5)

/** The time after which what failed is tried again: the library's next renewal may come after the fences end. */
const triedAgainAfter = Duration.millis(250)

/** The library asks again for slots that are not free yet only after a second. */
const acquiredSoon = {
  until: (acquired: ReadonlyArray<unknown>) => acquired.length > 0,
  times: 3,
  schedule: Schedule.spaced(triedAgainAfter)
}

/** Slots that are to be given back within this time are given back together. */
const batchDelay = Duration.millis(25)

const failures = Metric.counter("console_lease_failures_total", {
  description: "Statements about leases of slots that failed",
  incremental: true
})

const handovers = Metric.counter("console_slots_handed_over_total", {
  description: "Slots of accounts that this process has given back, for others to take immediately",
  incremental: true
})

/** The storage that the library is given; `fences` hold what this process may use. */
export const make = (inner: Storage, fences: Fences, options: Options): Storage => {
  const { alive, close, giveBack, instant, renew } = options
  const lease = Duration.toMillis(options.lease)
  const usable = lease - Duration.toMillis(options.margin)
  let seen: Seen | null = null
  let graceUntil = 0
  let batch: Batch | null = null
  let isRenewing = false
  /** The renewals that have no answer yet. */
  const renewals = new Set<Deferred.Deferred<void>>()
  /** For each acquisition that has no answer yet, the slots that were given away since it was sent. */
  const givenMeanwhile = new Set<Set<Slot>>()

  const isUsed = (shard: ShardId.ShardId): boolean => fences.term(slotOf(shard)) !== null

  const inTime = <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, PersistenceError> =>
    PersistenceError.refail(Effect.timeout(statement, lease / 4)).pipe(
      Effect.tapError(() => Metric.update(failures, 1))
    )

  /** Ends the terms of the slots; true if what uses them was closed in time. They stay closed until it is. */
  const isClosed = Effect.fnUntraced(function*(slots: ReadonlySet<Slot>) {
    fences.close(slots)
    for (const given of givenMeanwhile) for (const slot of slots) given.add(slot)
    const closing = yield* Effect.forkDetach(
      Effect.ensuring(close(slots), Effect.sync(() => fences.free(slots))),
      { startImmediately: true }
    )
    const closed = Option.isSome(yield* Effect.timeoutOption(Fiber.await(closing), closeTimeout))
    if (!closed) {
      yield* Effect.logWarning("Sessions of accounts could not be closed in time: the lease of their slots runs out")
    }
    return closed
  })

  const giveBackAll = Effect.fnUntraced(function*(owner: Owner, slots: ReadonlySet<Slot>) {
    if (slots.size === 0 || !(yield* isClosed(slots))) return
    // A row that a renewal moves after it was read is not given back: it would run out.
    yield* Effect.forEach([...renewals], (renewal) => Deferred.await(renewal), { discard: true })
    yield* inTime(giveBack(ownerOf(owner), [...slots].map((slot) => shardOf(slot).toString()))).pipe(
      Effect.flatMap((given) => Metric.update(handovers, given)),
      Effect.ignore
    )
  })

  const extended = Effect.fnUntraced(function*<E>(renewal: Effect.Effect<ReadonlyArray<ShardId.ShardId>, E>) {
    const sent = instant()
    const answered = Deferred.makeUnsafe<void>()
    renewals.add(answered)
    const renewed = yield* Effect.option(inTime(renewal)).pipe(
      Effect.ensuring(Effect.suspend(() => {
        renewals.delete(answered)
        return Deferred.succeed(answered, undefined)
      }))
    )
    if (Option.isSome(renewed)) fences.extend(renewed.value.map(slotOf), plus(sent, usable))
    return renewed
  })

  /**
   * Renews what is still used as soon as the database answers again, over any connection: the library's own is opened
   * again only after a statement has waited for it in vain.
   */
  const renewSoon = Effect.fnUntraced(function*(address: Owner) {
    while (true) {
      yield* Effect.sleep(triedAgainAfter)
      const used = [...fences.owned()].map((slot) => shardOf(slot).toString())
      if (used.length === 0) return
      const renewal = Effect.map(renew(ownerOf(address), used), (rows) => rows.map(ShardId.fromString))
      if (Option.isSome(yield* extended(renewal))) return
    }
  })

  const acquire = (address: Owner, shards: ReadonlyArray<ShardId.ShardId>) =>
    Effect.suspend(() => {
      const sent = instant()
      const given = new Set<Slot>()
      givenMeanwhile.add(given)
      return Effect.orElseSucceed(inTime(inner.acquire(address, shards)), () => []).pipe(
        Effect.map((acquired) => {
          const open = acquired.map(slotOf).filter((slot) => !given.has(slot))
          return [...fences.open(open, plus(sent, usable))].map(shardOf)
        }),
        Effect.ensuring(Effect.sync(() => void givenMeanwhile.delete(given)))
      )
    })

  return {
    register: (runner, healthy) => inTime(inner.register(runner, healthy)),
    unregister: (address) => inTime(inner.unregister(address)),
    setRunnerHealth: (address, healthy) => inTime(inner.setRunnerHealth(address, healthy)),

    getRunners: Effect.gen(function*() {
      const asked = yield* Clock.currentTimeMillis
      if (seen !== null && asked < seen.until) return [...seen.runners]
      const rows = yield* inTime(alive)
      const now = yield* Clock.currentTimeMillis
      const runners = rows.map(({ healthy, runner }) => [Runner.decodeSync(runner), healthy] as const)
      // After an outage the others are not back at the same moment: their slots are theirs for one lease more.
      if (seen !== null && now > seen.at + lease / 2) graceUntil = now + lease
      const missing = seen === null || now >= graceUntil ?
        [] :
        seen.runners.filter(([earlier]) => !runners.some(([runner]) => Equal.equals(runner.address, earlier.address)))
      // One that has missed a renewal is asked for at each call: its slots are taken as soon as they are free.
      const isSilent = rows.some(({ silentFor }) => silentFor > lease / 2)
      seen = { runners: [...runners, ...missing], at: now, until: isSilent ? now : now + lease / 6 }
      return [...seen.runners]
    }),

    acquire: (address, shards) => Effect.repeat(acquire(address, [...shards]), acquiredSoon),

    refresh: Effect.fnUntraced(function*(address, shards) {
      const asked = [...shards].filter(isUsed)
      const renewed = yield* extended(inner.refresh(address, asked))
      if (Option.isNone(renewed) && !isRenewing) {
        isRenewing = true
        yield* Effect.forkDetach(Effect.ensuring(
          renewSoon(address),
          Effect.sync(() => {
            isRenewing = false
          })
        ))
      }
      return Option.getOrElse(renewed, () => asked).filter(isUsed)
    }),

    release: (address, shard) =>
      Effect.gen(function*() {
        if (batch === null) {
          const next: Batch = { slots: new Set(), done: yield* Deferred.make<void>() }
          batch = next
          const begin = Effect.sync(() => {
            if (batch === next) batch = null
          })
          yield* Effect.forkDetach(
            Effect.delay(begin, batchDelay).pipe(
              Effect.andThen(giveBackAll(address, next.slots)),
              Effect.andThen(Deferred.succeed(next.done, undefined))
            ),
            { startImmediately: true }
          )
        }
        batch.slots.add(slotOf(shard))
        yield* Deferred.await(batch.done)
      }),

    // The library's own statement deletes whatever row is the process's when it arrives.
    releaseAll: (address) => Effect.suspend(() => giveBackAll(address, fences.owned()))
  }
}
