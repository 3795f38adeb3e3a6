import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { signUpLinkLifetime } from "../../../domain/Limits.ts"
import type { LicencesUsed, SignUpLink } from "../../../domain/organization/Billing.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
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
          returning id`.pipe(Effect.orDie, Effect.map((revoked) => revoked.length > 0))
    })
  })
)

/** Deletes the expired sign-up links of all organizations, which frees their seats. */
export const expireLinks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Ports.Db
  const since = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(signUpLinkLifetime))
  const ending = yield* Tenant.directory(sql)(sql<{ readonly organization_id: string }>`
    select distinct organization_id from sign_up_link where used_at is null and created_at <= ${since}`)
  for (const { organization_id } of ending) {
    yield* db.transaction(
      OrganizationId.make(organization_id),
      Effect.orDie(sql`
        delete from sign_up_link
        where organization_id = ${organization_id} and used_at is null and created_at <= ${since}`)
    )
  }
})
