import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What statements outside organizations do, and nothing else: the service's role has these privileges alone. */
const privileges = [
  ["organization", "select"],
  ["admin", "select"],
  ["api_key", "select, update (last_used_at)"],
  ["ai_connection", "select, update (last_used_at)"],
  ["oauth_client", "select, insert, update (address), delete"],
  ["oauth_code", "select, delete"],
  ["oauth_token", "select, delete"],
  ["console_session", "select, update (last_used_at), delete"],
  ["known_browser", "select, update (digest), delete"],
  ["password_failure", "select, delete"],
  ["password_throttle", "select, insert, update, delete"],
  ["rate_limit", "select, insert, update, delete"],
  ["pending_change", "select"],
  // Whoever signs locks the heads, for which the right to change one column is needed.
  ["journal_head", "select, update (at)"],
  ["journal_checkpoint", "select, insert"],
  ["journal_unsigned", "select, delete"],
  ["journal_push", "select, insert, update"],
  ["schema_migration", "select"],
  ["simulated_platform", "select, update"],
  ["simulated_account", "select, insert, update"],
  ["simulated_authorization", "select, insert, delete"],
  ["simulated_username_for_sale", "select, insert"],
  ["simulated_script", "select, insert, update, delete"],
  ["simulated_call", "select, insert, delete"]
] as const

/** The tables that a seed fills, and those that fill with them. */
const seeded = [
  "organization",
  "department",
  "admin",
  "account",
  "admin_account",
  "admin_department",
  "sign_up_link",
  "session",
  "termination",
  "api_key",
  "ai_connection",
  "journal_head",
  "journal_event",
  "simulated_account",
  "simulated_authorization"
] as const

/** Lets the service work as `console_service`, which owns no table and cannot change what was journaled or signed. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    select tablename::text as name from pg_policies where schemaname = current_schema() and policyname = 'directory'`
  for (const { name } of tables) yield* sql`alter policy directory on ${sql(name)} to console_service`
  for (const [table, allowed] of privileges) {
    yield* sql`grant ${sql.literal(allowed)} on ${sql(table)} to console_service`
  }
  yield* sql`grant usage on sequence simulated_number to console_service`

  // Only an owner may analyze.
  yield* sql`
    create function analyze_seeded() returns void language plpgsql security definer set search_path = public, pg_temp
    as ${sql.literal(`$$ begin analyze ${seeded.join(", ")}; end $$`)}`
  yield* sql`revoke all on function analyze_seeded() from public`
  yield* sql`grant execute on function analyze_seeded() to console_service`
})
