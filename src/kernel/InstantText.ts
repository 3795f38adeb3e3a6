/** Instants as `Date.toISOString` writes them, at an eighth of its cost. */

const two = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"))
const three = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, "0"))

const dayLength = 86_400_000

/** Most answers are about the last months. */
const daysCached = 1000
const days = new Map<number, string>()

/** The day's part. */
const dayText = (day: number): string => {
  const known = days.get(day)
  if (known !== undefined) return known
  const text = new Date(day * dayLength).toISOString().slice(0, -13)
  if (days.size >= daysCached) days.clear()
  days.set(day, text)
  return text
}

/** The instant in UTC with milliseconds; throws for an invalid one. */
export const format = (date: Date): string => {
  const time = date.getTime()
  const day = Math.floor(time / dayLength)
  if (Number.isNaN(day)) throw new RangeError("Invalid time value")
  const millis = time - day * dayLength
  const seconds = Math.trunc(millis / 1000)
  const minutes = Math.trunc(seconds / 60)
  const hours = Math.trunc(minutes / 60)
  return `${dayText(day)}${two[hours]}:${two[minutes - hours * 60]}:${two[seconds - minutes * 60]}.${
    three[millis - seconds * 1000]
  }Z`
}
