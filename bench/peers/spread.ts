/** What several rounds came to together. */

const sorted = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)

export const median = (values: ReadonlyArray<number>): number => {
  const all = sorted(values)
  const middle = all.length >> 1
  return all.length % 2 === 1 ? all[middle] ?? 0 : ((all[middle - 1] ?? 0) + (all[middle] ?? 0)) / 2
}

/** The median, with the lowest and the highest. */
export const spread = (values: ReadonlyArray<number>, digits: number): string => {
  const all = sorted(values)
  return `${median(values).toFixed(digits)} (${all.at(0)?.toFixed(digits)} to ${all.at(-1)?.toFixed(digits)})`
}
