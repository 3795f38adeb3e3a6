/** What the database says of itself to an operator: how it is run, where its schema stands, and what it was used with. */
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../domain/Wire.ts"
import { Background } from "../engine/Background.ts"
import * as Migrate from "../layers/sql/Migrate.ts"
import { migrations } from "../layers/sql/migrations/index.ts"
import { ownsTables } from "../layers/sql/Roles.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { command } from "./Declared.ts"

const Schemas = Schema.Struct({ applied: Schema.Int, known: Schema.Int })

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
  /** The jobs of the process that answers; null where it does no background work. */
  jobs: Schema.NullOr(Schema.Array(JobState))
})

interface Facts {
  readonly version: string
  readonly name: string
  readonly role: string
  readonly owns_tables: boolean
  readonly size_bytes: number
  readonly checkpoints: boolean
}

const facts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Facts>`
    select split_part(current_setting('server_version'), ' ', 1) as version, current_database()::text as name,
      session_user::text as role, pg_database_size(current_database()) as size_bytes,
      ${ownsTables(sql)} as owns_tables,
      to_regclass('journal_checkpoint') is not null as checkpoints`
  return row ?? (yield* Effect.die(new Error("The database does not say what it is")))
})

const usedPeppers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string }>`
    select distinct pepper_id as id from (
      select pepper_id from api_key union all select pepper_id from oauth_token
      union all select pepper_id from oauth_code union all select pepper_id from oauth_client) as used
    where pepper_id is not null order by id`
  return rows.map(({ id }) => id)
})

const lastCheckpoint = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ organization: string; sequence: number; at: Date }>`
    select organization_id as organization, sequence, at from journal_checkpoint order by at desc limit 1`
  return row ?? null
})

export const databaseStatus = command("database_status", Schema.Struct({}), Answer, () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const background = yield* Effect.serviceOption(Background)
    const jobs = Option.isNone(background) ? null : yield* background.value.jobs
    return yield* Tenant.directory(sql)(Effect.gen(function*() {
      const { checkpoints, ...found } = yield* facts
      const schema = yield* Migrate.state(migrations)
      // The tables of keys and tokens are there from the third migration on.
      const filled = schema.applied >= 3
      const rows = Effect.gen(function*() {
        const [count] = filled ? yield* sql<{ count: number }>`select count(*) as count from organization` : []
        return {
          organizations: count?.count ?? 0,
          peppers_used: filled ? yield* usedPeppers : [],
          last_checkpoint: checkpoints ? yield* lastCheckpoint : null
        }
      })
      return { ...found, jobs, schema, ...(yield* Migrate.asOf(schema.applied)(rows)) }
    }))
  }))
