/** Numbers of a sequence, which its own number alone decides. */

export interface Drawn {
  readonly next: () => number
  readonly chance: (probability: number) => boolean
  /** From `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number
  readonly oneOf: <A>(all: ReadonlyArray<A>) => A | null
}

/** The generator mulberry32. */
export const drawnOf = (seed: number): Drawn => {
  let state = Math.imul(seed, 0x9e3779b1) | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    oneOf: (all) => all[between(0, Math.max(0, all.length - 1))] ?? null
  }
}
