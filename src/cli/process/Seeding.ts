/** Loading a seed, in whatever process has the database. */
import { Effect } from "effect"
import * as Signing from "../../jobs/journal/sign_checkpoints.ts"
import * as Loader from "../../layers/seed/SeedLoader.ts"

/** Loads a seed from JSON, and signs the journals that it fills: the events in them may be older than any unsigned one. */
export const load = Effect.fnUntraced(function*(json: unknown) {
  const loaded = yield* Effect.flatMap(Loader.decode(json), Loader.load)
  if (loaded.created.length > 0) yield* Signing.sign(true)
  return loaded
})
