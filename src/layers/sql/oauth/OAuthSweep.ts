/** Forgets what the authorization server no longer needs. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { codeMemory, unusedClientLifetime } from "../../../domain/oauth/OAuth.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/**
 * Deletes tokens that have expired, codes whose second use need not be recognised any more, whatever is left of revoked
 * connections, and registrations that no admin has connected within a day; of the others it forgets the address.
 */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const before = (age: Duration.Duration) => new Date(now - Duration.toMillis(age))
  const ofRevoked = (table: "oauth_code" | "oauth_token") =>
    sql`exists (
      select 1 from ai_connection
      where ai_connection.organization_id = ${sql(table)}.organization_id and ai_connection.id = connection_id
        and revoked_at is not null)`
  yield* Tenant.directoryAlone(sql)(Effect.gen(function*() {
    yield* sql`delete from oauth_token where expires_at <= ${new Date(now)} or ${ofRevoked("oauth_token")}`
    yield* sql`delete from oauth_code where expires_at <= ${before(codeMemory)} or ${ofRevoked("oauth_code")}`
    const unused = before(unusedClientLifetime)
    yield* sql`
      delete from oauth_client
      where created_at <= ${unused} and not exists (select 1 from ai_connection where client_id = oauth_client.id)`
    yield* sql`update oauth_client set address = null where created_at <= ${unused} and address is not null`
  }))
})
