/** What an operator can ask of the database: how it is run, its schema's version, and what it was used with. */
import { Context, Effect, Schema } from "effect"
import { Timestamp } from "../domain/JsonShapes.ts"
import { type Failing, useCase } from "./UseCase.ts"

/** The latest migration; 0 for the tables alone, and null where there are none yet. */
const Schemas = Schema.Struct({ applied: Schema.NullOr(Schema.Int), known: Schema.Int })

/** How the last runs of a background job ended in the process that answers. */
const JobState = Schema.Struct({
  name: Schema.String,
  last_done_at: Schema.NullOr(Timestamp),
  last_failed_at: Schema.NullOr(Timestamp),
  failure: Schema.NullOr(Schema.String)
})

const Answer = Schema.Struct({
  version: Schema.String,
  name: Schema.String,
  role: Schema.String,
  /** Whether the login role owns the tables or may act as their owner. */
  owns_tables: Schema.Boolean,
  size_bytes: Schema.Int,
  schema: Schemas,
  organizations: Schema.Int,
  /** The ids of the peppers that some key, token or code was made with. */
  peppers_used: Schema.Array(Schema.String),
  /** Null where no checkpoint was signed. */
  last_checkpoint: Schema.NullOr(Schema.Struct({ organization: Schema.String, sequence: Schema.Int, at: Timestamp })),
  /** Journals with an event that no checkpoint covers although two minutes have passed, and the first such event. */
  unsigned_journals: Schema.Array(
    Schema.Struct({ organization: Schema.String, sequence: Schema.Int, at: Timestamp })
  ),
  /** How the watch over all accounts goes; null where the schema is not this program's. */
  watch: Schema.NullOr(Schema.Struct({
    /** When a poll was last made, whatever it brought. */
    last_poll_at: Schema.NullOr(Timestamp),
    /** When one last succeeded, or monitoring began; null where no account is watched. */
    last_good_at: Schema.NullOr(Timestamp),
    fault: Schema.NullOr(Schema.Literals(["unpolled", "unavailable", "failing"]))
  })),
  /** The jobs of the process that answers; null where it does no background work. */
  jobs: Schema.NullOr(Schema.Array(JobState))
})

/** What the process that has the database open knows of it. */
export class DatabaseStatus extends Context.Service<DatabaseStatus, {
  readonly read: Effect.Effect<typeof Answer.Type, Failing>
}>()("org-security-console/operator/Database/DatabaseStatus") {}

export const databaseStatus = useCase(
  "database_status",
  Schema.Struct({}),
  Answer,
  () => Effect.flatMap(DatabaseStatus, ({ read }) => read)
)
