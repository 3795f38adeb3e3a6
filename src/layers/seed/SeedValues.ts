/** The values that seed files are written in. */
import { Schema } from "effect"
import { PhoneNumber } from "../../domain/logins/PhoneNumber.ts"

export const optional: typeof Schema.optionalKey = Schema.optionalKey
export const Natural = Schema.Natural.check(Schema.isLessThanOrEqualTo(2_147_483_647))
export const Bytes = Schema.Natural

const unitMillis: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000
}

/** The instant that a moment names at `now`. */
export const resolve = (moment: string, now: Date): Date => {
  if (moment === "now") return now
  const distance = /^([+-][0-9]+)([smhdw])$/.exec(moment)
  return distance === null
    ? new Date(moment)
    : new Date(now.getTime() + Number(distance[1]) * (unitMillis[distance[2] ?? ""] ?? 0))
}

const century = 36_525 * 86_400_000

/** True if the calendar has the instant, and a distance is of a hundred years at most. */
const isInstant = (moment: string): boolean => {
  const millis = resolve(moment, new Date(0)).getTime()
  return /^[+-]/.test(moment) ? Math.abs(millis) <= century : !Number.isNaN(millis)
}

/** An instant: `now`, a distance from now such as `-2d`, `+36h` or `-90m`, or an ISO 8601 date-time. */
export const SeedTime = Schema.String.check(
  Schema.isPattern(
    /^(?:now|[+-][0-9]{1,10}[smhdw]|[12][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}(?:Z|[+-][0-9]{2}:[0-9]{2}))$/u,
    { expected: "now, a distance such as -2d or +36h, or an ISO 8601 date-time" }
  ).abort(),
  Schema.makeFilter(isInstant, { expected: "an instant that the calendar has, within a hundred years of now" })
).annotate({ identifier: "moment", description: "now, a distance from now (s, m, h, d, w), or an ISO 8601 date-time." })

export const Text = Schema.String.check(
  Schema.makeFilter((text: string) => text.isWellFormed() && !text.includes("\u0000"), {
    expected: "text without U+0000 and lone surrogates"
  })
)
export const Name = Text.check(Schema.isNonEmpty())
export const Email = Name.check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/u, { expected: "an email address" }))

export const Person = Schema.Struct({
  phone: PhoneNumber,
  first_name: Name,
  last_name: optional(Name),
  username: optional(Name),
  about: optional(Text),
  two_fa_password: optional(Name),
  two_fa_hint: optional(Text)
}).annotate({ identifier: "person", description: "Somebody whom no organization has connected yet." })
export type SeedPerson = typeof Person.Type
