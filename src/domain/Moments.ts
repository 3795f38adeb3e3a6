/** Moments of the Clock, as rows and statements have them. */
import { Clock, Duration, Effect } from "effect"

/** The Clock's now. */
export const now: Effect.Effect<Date> = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

/** The moment so long before another. */
export const before = (moment: Date, duration: Duration.Duration): Date =>
  new Date(moment.getTime() - Duration.toMillis(duration))

/** The moment so long after another. */
export const after = (moment: Date, duration: Duration.Duration): Date =>
  new Date(moment.getTime() + Duration.toMillis(duration))
