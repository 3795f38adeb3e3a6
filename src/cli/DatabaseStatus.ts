/** What the database says of itself to an operator: how it is run, where its schema stands, and what it was used with. */
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Background } from "../engine/Background.ts"
import * as Migrate from "../layers/sql/Migrate.ts"
import { migrations } from "../layers/sql/migrations/index.ts"
import { ownsTables } from "../layers/sql/Roles.ts"
import * as Tenant from "../layers/sql/Tenant.ts"

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

/** What the database says, however old its schema is. */
export const databaseStatus = Effect.gen(function*() {
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
})
