/** The ids of a chat of which everything that the account sees is archived, as ranges. */

/** From `low` up to but not including `high`. */
export interface IdRange {
  readonly low: bigint
  readonly high: bigint
}

/** Law: ascending, none is empty, and none touches the next. */
export type Covered = ReadonlyArray<IdRange>

/** The ranges with one more; an empty one changes nothing. */
export const cover = (ranges: Covered, { high, low }: IdRange): Covered => {
  if (low >= high) return ranges
  const apart = ranges.filter((range) => range.high < low || range.low > high)
  const touching = ranges.filter((range) => range.high >= low && range.low <= high)
  const least = touching.reduce((least, range) => range.low < least ? range.low : least, low)
  const most = touching.reduce((most, range) => range.high > most ? range.high : most, high)
  return [...apart, { low: least, high: most }].sort((one, other) => one.low < other.low ? -1 : 1)
}

/** The range that holds the id. */
export const rangeAt = (ranges: Covered, id: bigint): IdRange | null =>
  ranges.find(({ high, low }) => low <= id && id < high) ?? null

/** PostgreSQL's text of an `int8multirange`. */
export const formatRanges = (ranges: Covered): string =>
  `{${ranges.map(({ high, low }) => `[${low},${high})`).join(",")}}`

/** Reads what PostgreSQL writes, which is always in the form `[low,high)`. */
export const parseRanges = (text: string): Covered =>
  [...text.matchAll(/\[(-?\d+),(-?\d+)\)/g)].map(([, low = "0", high = "0"]) => ({
    low: BigInt(low),
    high: BigInt(high)
  }))
