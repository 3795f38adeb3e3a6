/** Moments in words: how long ago or how soon, with the exact time with it. */
import { Duration } from "effect"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"

const units = [
  ["day", Duration.toMillis(Duration.days(1))],
  ["hour", Duration.toMillis("1 hour")],
  ["minute", Duration.toMillis("1 minute")]
] as const

/** Beyond this distance the date is shown. */
const longest = Duration.toMillis("30 days")

/** A unit is used from its double on: one hour and a half are 90 minutes. */
const lengths = units.map(([unit, length]) =>
  [new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 }), length] as const
)

/** A length of time in words, roughly. */
export const lasting = (milliseconds: number): string => {
  const found = lengths.find(([, length]) => milliseconds >= 2 * length) ?? lengths.at(-1)
  return found === undefined || milliseconds < found[1]
    ? "less than a minute"
    : found[0].format(milliseconds / found[1])
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" })

/** The distance in words; null where the date is shown instead. */
const distance = (milliseconds: number): string | null => {
  const size = Math.abs(milliseconds)
  if (size >= longest) return null
  const unit = units.find(([, length]) => size >= length)
  if (unit === undefined) return milliseconds > 0 ? "in less than a minute" : "just now"
  return relative.format(Math.trunc(milliseconds / unit[1]), unit[0])
}

const written = (date: Date, text: string | null): Html.Html =>
  text === null
    ? Html.momentOf(date)
    : html`<time datetime="${date.toISOString()}" title="${Html.plainMoment(date)}">${text}</time>`

/** A moment relative to `now`, such as “in 3 hours”; the exact time is its title. */
export const when = (date: Date, now: number): Html.Html => written(date, distance(date.getTime() - now))

/** A moment of the past: what happened while the page was made happened just now. */
export const ago = (date: Date, now: number): Html.Html => written(date, distance(Math.min(date.getTime() - now, 0)))

/** The moment in words, or another word where there is none. */
export const since = (date: Date | null, now: number, otherwise: string): Html.Html =>
  date === null ? html`${otherwise}` : ago(date, now)
