import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Keeps how long ago a person may have signed in at an identity provider; null leaves that to the provider. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table identity_provider add column max_age_minutes integer check (max_age_minutes between 0 and 10080)`
})
