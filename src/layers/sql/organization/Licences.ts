import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { LicencesUsed, SignUpLink } from "../../../domain/organization/Billing.ts"
import * as Ports from "../../../ports/index.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** Licences and seats in SQL: the seats that links hold are counted as links change. */
export const layer = Layer.effect(
  Ports.Licences,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    return Ports.Licences.of({
      used: (organizationId) =>
        sql<LicencesUsed>`
          select count(*) filter (where licence_tier = 'protect')::integer as protect,
            count(*) filter (where licence_tier = 'archive')::integer as archive,
            count(*) filter (where licence_tier = 'governance')::integer as governance
          from account where organization_id = ${organizationId} and offboarded_at is null`.pipe(
          Effect.orDie,
          Effect.flatMap(([row]) =>
            row === undefined ? Effect.die(new Error("An aggregate without a row")) : Effect.succeed(row)
          )
        ),

      setTier: (organizationId, accountId, tier) =>
        post(
          sql`update account set licence_tier = ${tier} where organization_id = ${organizationId} and id = ${accountId}`
        ),

      links: (organizationId, limit) =>
        Effect.orDie(sql<SignUpLink>`
          select id, created_at from sign_up_link where organization_id = ${organizationId} and used_at is null
          order by created_at desc, id desc limit ${limit}`),

      revokeLink: (organizationId, id) =>
        sql`
          delete from sign_up_link where organization_id = ${organizationId} and id = ${id} and used_at is null
          returning id`.pipe(Effect.orDie, Sql.exists)
    })
  })
)
