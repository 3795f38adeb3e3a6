/**
 * The source of random values: the same in every run, so that a failure can be repeated and a run that passes
 * passes again. `TEST_SEED=7 npm test` draws others.
 */
const seed = Number(process.env["TEST_SEED"] ?? 1)

/** The options of a property that is tried so often. */
export const drawn = (runs = 100) => ({ arbitrary: { runs, seed } })

/** So often on PostgreSQL, and a third of that on PGlite, where statements, the same on both, take longer. */
export const drawnOn = (database: "PGlite" | "PostgreSQL", runs: number) =>
  drawn(database === "PGlite" ? Math.ceil(runs / 3) : runs)

/** The options of a property of fast-check. */
export const tried = (numRuns = 100) => ({ numRuns, seed })

/** The options of a sample. */
export const sampled = (count: number) => ({ count, seed })
