/** The state of the database that an operator can ask for: how it is run, its schema's version, and its use. */
import { Context, Effect, Schema } from "effect"
import { Timestamp } from "../domain/JsonShapes.ts"
import { useCase, type WordedFailure } from "./UseCase.ts"

/** The latest migration; 0 for the tables alone, and null where there are none yet. */
const Schemas = Schema.Struct({ applied: Schema.NullOr(Schema.Int), known: Schema.Int })

/** The ends of the last runs of a background job in the process that answers. */
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
  /** True if the login role owns the tables or may act as their owner. */
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
  /** The state of the watch over all accounts; null where the schema is not this program's. */
  watch: Schema.NullOr(Schema.Struct({
    /** The time of the last poll, whatever it brought. */
    last_poll_at: Schema.NullOr(Timestamp),
    /** The time when one last succeeded, or monitoring began; null where no account is watched. */
    last_good_at: Schema.NullOr(Timestamp),
    fault: Schema.NullOr(Schema.Literals(["unpolled", "unavailable", "failing"]))
  })),
  /** The workers on PostgreSQL that share the accounts by slots; null where none lives. */
  workers: Schema.NullOr(Schema.Struct({
    living: Schema.Array(Schema.Struct({
      address: Schema.String,
      slots: Schema.Int,
      /** The time since which it has all of them: its last one came then. Null where it has none. */
      since: Schema.NullOr(Timestamp),
      renewed_at: Timestamp
    })),
    /** Slots that no worker has. */
    free_slots: Schema.Int
  })),
  /** The jobs of the process that answers; null where it does no background work. */
  jobs: Schema.NullOr(Schema.Array(JobState))
})

/** The state of the database as the process that has it open knows it. */
export class DatabaseStatus extends Context.Service<DatabaseStatus, {
  readonly read: Effect.Effect<typeof Answer.Type, WordedFailure>
}>()("org-security-console/operator/Database/DatabaseStatus") {}

export const databaseStatus = useCase(
  "database_status",
  Schema.Struct({}),
  Answer,
  () => Effect.flatMap(DatabaseStatus, ({ read }) => read)
)
