/** Loading organizations from a file. */
import { Schema } from "effect"
import { contract } from "./UseCase.ts"

export const seed = contract(
  "seed",
  Schema.Struct({ seed: Schema.Json }),
  Schema.Struct({
    created: Schema.Array(Schema.String),
    unchanged: Schema.Array(Schema.String),
    keys: Schema.Array(Schema.Struct({
      organization: Schema.String,
      label: Schema.String,
      admin: Schema.String,
      key: Schema.RedactedFromValue(Schema.String)
    }))
  })
)
