import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OAuthLeftovers } from "../../../ports/oauth/OAuthLeftovers.ts"
import * as Tenant from "../../postgres/Tenant.ts"

export const layer = Layer.effect(
  OAuthLeftovers,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const ofRevoked = (table: "oauth_code" | "oauth_token") =>
      sql`exists (
        select 1 from ai_connection
        where ai_connection.organization_id = ${sql(table)}.organization_id and ai_connection.id = connection_id
          and revoked_at is not null)`
    return {
      forget: Effect.fnUntraced(
        function*({ clients, codes, now }) {
          yield* sql`delete from oauth_token where expires_at <= ${now} or ${ofRevoked("oauth_token")}`
          yield* sql`delete from oauth_code where expires_at <= ${codes} or ${ofRevoked("oauth_code")}`
          yield* sql`
            delete from oauth_client
            where created_at <= ${clients}
              and not exists (select 1 from ai_connection where client_id = oauth_client.id)`
          yield* sql`update oauth_client set address = null where created_at <= ${clients} and address is not null`
        },
        Tenant.directoryAlone(sql)
      )
    }
  })
)
