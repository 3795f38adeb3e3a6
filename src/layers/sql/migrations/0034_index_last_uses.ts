import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** When an admin's credentials were last used, and which have not ended, without reading those of all years. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["api_key", "ai_connection"]) {
    yield* sql`create index ${sql(`${table}_used`)} on ${sql(table)} (organization_id, admin_id, last_used_at)`
    yield* sql`
      create index ${sql(`${table}_live`)} on ${sql(table)} (organization_id, admin_id, expires_at)
      where revoked_at is null`
    // The first of the two finds an admin's credentials as well.
    yield* sql`drop index ${sql(`${table}_admin`)}`
  }
})
