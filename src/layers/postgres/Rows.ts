/** The rows that a statement answers. */
import { Effect } from "effect"

/** The first row, or null. */
export const one = <A, E, R>(rows: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A | null, E, R> =>
  Effect.map(rows, ([row]) => row ?? null)

/** True if the statement answers a row. */
export const exists = <E, R>(rows: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<boolean, E, R> =>
  Effect.map(rows, (found) => found.length > 0)
