import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Keeps the last four characters of each new key, by which its holder tells keys apart; those of older keys are
 * unknown.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table api_key add column last_four text collate "C" check (last_four ~ '^[0-9A-Za-z]{4}$')`
})
