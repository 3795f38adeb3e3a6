/** Loading organizations from a file. */
import { Context, Effect, Schema } from "effect"
import { useCase, type WordedFailure } from "./UseCase.ts"

const Loaded = Schema.Struct({
  created: Schema.Array(Schema.String),
  unchanged: Schema.Array(Schema.String),
  keys: Schema.Array(Schema.Struct({
    organization: Schema.String,
    label: Schema.String,
    admin: Schema.String,
    key: Schema.RedactedFromValue(Schema.String)
  }))
})

/** Loads the organizations of a seed that are not there yet. */
export class Seeds extends Context.Service<Seeds, {
  load(seed: Schema.Json): Effect.Effect<typeof Loaded.Type, WordedFailure>
}>()("org-security-console/operator/SeedFile/Seeds") {}

export const seed = useCase(
  "seed",
  Schema.Struct({ seed: Schema.Json }),
  Loaded,
  ({ seed }) => Effect.flatMap(Seeds, (seeds) => seeds.load(seed))
)
