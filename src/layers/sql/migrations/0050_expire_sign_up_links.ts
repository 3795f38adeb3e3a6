import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The service finds the sign-up links that have ended; they are deleted inside their organization. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create policy directory on sign_up_link to console_service using (true)`
  yield* sql`grant select (organization_id, created_at, used_at) on sign_up_link to console_service`
  yield* sql`create index sign_up_link_ending on sign_up_link (created_at) where used_at is null`
})
