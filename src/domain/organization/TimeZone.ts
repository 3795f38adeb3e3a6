/** The time zone of an organization: what is done at night is done in its nights. */
import { DateTime, Option } from "effect"

/** The usual form of a name in the tz database, such as `Europe/Berlin`; null where there is none of that name. */
export const timeZoneNamed = (name: string): string | null =>
  /^[A-Za-z]/.test(name) ? Option.getOrNull(Option.map(DateTime.zoneMakeNamed(name), ({ id }) => id)) : null

/** Nights begin at midnight, and end at this hour. */
const nightEnds = 6

/** A zone that this version of the tz database does not have counts as UTC. */
const zoneOf = (name: string): DateTime.TimeZone =>
  Option.getOrElse(DateTime.zoneMakeNamed(name), () => DateTime.zoneMakeOffset(0))

/** The moment in the night that the day begins with, at a share of it from 0 on to below 1. */
const momentIn = (day: DateTime.Zoned, share: number): number => {
  const begins = DateTime.startOf(day, "day")
  const ends = DateTime.mutate(begins, (date) => date.setUTCHours(nightEnds))
  return DateTime.toEpochMillis(begins) +
    Math.floor(share * (DateTime.toEpochMillis(ends) - DateTime.toEpochMillis(begins)))
}

/** The next of the moments at that share of each night in the zone: one for each day there. */
export const nextNight = (timeZone: string, share: number, after: Date): Date => {
  let day = DateTime.setZone(DateTime.fromDateUnsafe(after), zoneOf(timeZone))
  let at = momentIn(day, share)
  while (at <= after.getTime()) {
    day = DateTime.add(day, { days: 1 })
    at = momentIn(day, share)
  }
  return new Date(at)
}
