/** The times when a mail that was not taken is sent again, and when it is abandoned. */
import { Duration } from "effect"
import { mailTried } from "../Limits.ts"

/** The pauses after the first attempts; after them one attempt an hour. */
const pauses = [1, 5, 15, 60].map((minutes) => Duration.minutes(minutes))
const lastPause = Duration.hours(1)

/** The time that the service remembers for what it has sent a mail. */
export const mailKept = Duration.days(30)

/** The number of waiting notifications from which a person gets them as one mail. */
export const joinedFrom = 11

/** The moment of the next attempt after some that failed; null where the mail is abandoned. */
export const nextAttempt = (createdAt: Date, attempts: number, now: Date): Date | null => {
  const next = now.getTime() + Duration.toMillis(pauses[attempts - 1] ?? lastPause)
  return next > createdAt.getTime() + Duration.toMillis(mailTried) ? null : new Date(next)
}
