import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The service reads under which pepper second factors and secrets at identity providers are, and nothing else of them.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const [table, column] of [["totp", "secret_sealed"], ["identity_provider", "client_secret_sealed"]] as const) {
    yield* sql`
      alter table ${sql(table)}
      add column pepper_id text collate "C" generated always as (split_part(${sql(column)}, '.', 1)) stored`
  }
  // Null for codes of an earlier version: under which pepper they are is not known.
  yield* sql`alter table recovery_code add column pepper_id text collate "C"`
  yield* sql`grant select (organization_id, pepper_id) on totp to console_service`
  yield* sql`grant select (pepper_id) on identity_provider to console_service`
  yield* sql`grant select (pepper_id, used_at) on recovery_code to console_service`
  yield* sql`create policy directory on totp to console_service using (true)`
  yield* sql`create policy directory on recovery_code to console_service using (true)`
})
