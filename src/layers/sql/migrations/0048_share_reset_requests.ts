import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Where requests for a new password come from, as digests: none keeps the others from the queue. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const column of ["address", "network"]) {
    yield* sql`alter table password_reset_request add column ${sql(column)} text collate "C" not null default ''`
    yield* sql`alter table password_reset_request alter column ${sql(column)} drop default`
  }
})
