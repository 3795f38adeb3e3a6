/** The clock that all processes on one database share: the database's time, carried on by the host's monotonic one. */
import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as Outage from "./DatabaseOutage.ts"

const nanosPerMilli = 1_000_000n

/** A clock with the instant that it is anchored to, in nanoseconds of wall time and of monotonic time. */
export interface AnchoredClock {
  readonly clock: Clock.Clock
  /** Says what the wall time was at a monotonic instant; time does not go back, it waits until it is caught up with. */
  readonly anchor: (wall: bigint, monotonic: bigint) => void
}

/** Makes a clock that runs on `monotonic`, first anchored to `wall`. */
export const make = (wall: bigint, monotonic: () => bigint): AnchoredClock => {
  let offset = wall - monotonic()
  let latest = wall
  const nanos = (): bigint => {
    const now = monotonic() + offset
    if (now > latest) latest = now
    return latest
  }
  const millis = () => Number(nanos() / nanosPerMilli)
  const host = Clock.Clock.defaultValue()
  return {
    anchor: (wall, at) => {
      offset = wall - at
    },
    clock: {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) => host.sleep(duration)
    }
  }
}

/** Makes one on the host's monotonic clock: a step of its wall clock changes nothing. */
export const ofHost = (): AnchoredClock => make(BigInt(Date.now()) * nanosPerMilli, () => process.hrtime.bigint())

/** The interval at which the clock queries the database, and the time it waits for a usable answer. */
const interval = Duration.seconds(30)
const timeout = Duration.seconds(2)

/**
 * Replaces Effect's `Clock`: anchored to the database's `clock_timestamp()`, again every 30 seconds.
 *
 * While the database is away the clock runs on; before its first answer it says what the host's wall clock said at the
 * start.
 */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effect(
  Clock.Clock,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { anchor, clock } = ofHost()
    const monotonic = () => clock.monotonicTimeNanosUnsafe()
    const ask = Effect.gen(function*() {
      const before = monotonic()
      const [row] = yield* sql<{ micros: number }>`
        select (extract(epoch from clock_timestamp()) * 1000000)::int8 as micros`
      const after = monotonic()
      if (row !== undefined) anchor(BigInt(row.micros) * 1000n, (before + after) / 2n)
      yield* Outage.answered(sql)
    }).pipe(
      Effect.timeout(timeout),
      Effect.catch((error) =>
        Outage.lost(sql, SqlError.isSqlError(error) ? Outage.reasonOf(error) : "it does not report its time")
      ),
      Effect.provideService(Clock.Clock, clock)
    )
    yield* ask
    yield* Effect.forkScoped(Effect.schedule(ask, Schedule.spaced(interval)))
    return clock
  })
)
