import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The claims in SQL. */
export const layer = Layer.effect(
  Ports.Identities,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    return Ports.Identities.of({
      claim: Effect.fnUntraced(function*(organizationId, userId, accountId) {
        const made = yield* sql`
          insert into messenger_identity (messenger_user_id, organization_id, account_id)
          values (${userId}, ${organizationId}, ${accountId})
          on conflict do nothing returning account_id`
        if (made.length > 0) return true
        const own = yield* sql`
          select account_id from messenger_identity
          where organization_id = ${organizationId} and account_id = ${accountId} and messenger_user_id = ${userId}`
        return own.length > 0
      }, Effect.orDie),

      release: (organizationId, accountId) =>
        post(sql`
          delete from messenger_identity
          where organization_id = ${organizationId} and account_id = ${accountId}`)
    })
  })
)
