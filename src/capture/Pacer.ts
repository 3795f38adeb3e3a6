/** The rate of calls to the messenger: some at once, then one after another. */
import { Clock, Duration, Effect } from "effect"

export interface Pacer {
  /** Waits until the next call may be made. */
  readonly take: Effect.Effect<void>
}

export interface Pace {
  /** Calls a second, in the long run. */
  readonly rate: number
  /** Calls that may be made without waiting after a pause. */
  readonly burst: number
}

/** Waits for a turn of each, one after the other. */
export const inTurn = (...pacers: ReadonlyArray<Pacer>): Pacer => ({
  take: Effect.forEach(pacers, ({ take }) => take, { discard: true })
})

interface Waits {
  /** The time between two questions if it is over. */
  readonly pause: Duration.Duration
  readonly longest: Duration.Duration
}

/** A look at the account itself goes before a page, and is over soon. */
export const ownLook: Waits = { pause: Duration.millis(100), longest: Duration.seconds(10) }

/** Looks at other accounts have the process to themselves for a moment, also where they never end. */
export const otherLooks: Waits = { pause: Duration.millis(50), longest: Duration.seconds(1) }

/** Waits while the watch looks, for the longest time at most. */
export const afterLooks = (isLooking: () => boolean, { longest, pause }: Waits): Pacer => {
  const wait = (left: number): Effect.Effect<void> =>
    Effect.suspend(() =>
      left > 0 && isLooking() ? Effect.andThen(Effect.sleep(pause), wait(left - Duration.toMillis(pause))) : Effect.void
    )
  return { take: wait(Duration.toMillis(longest)) }
}

/** A bucket of calls that fills at the rate. */
export const makePacer = ({ burst, rate }: Pace): Pacer => {
  const interval = 1000 / rate
  let free = Number.NEGATIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  return {
    take: Effect.flatMap(Clock.currentTimeMillis, (now) => {
      // A clock that is set back does not make calls wait for what it has lost.
      if (now < last) free -= last - now
      last = now
      free = Math.max(free, now - (burst - 1) * interval)
      const wait = free - now
      free += interval
      return wait > 0 ? Effect.sleep(wait) : Effect.void
    })
  }
}
