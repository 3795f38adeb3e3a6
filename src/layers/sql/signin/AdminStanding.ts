import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AdminStanding } from "../../../ports/signin/AdminStanding.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { hasOne, lockActive } from "./FactorRecords.ts"
import { maySignInHere } from "./IdentityProviders.ts"

export const layer = Layer.effect(
  AdminStanding,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const active = ({ adminId, organizationId }: AdminRef) =>
      sql`select 1 from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null`

    return AdminStanding.of({
      lock: (admin) => lockActive(sql, admin),

      share: (admin) => sql`${active(admin)} for share`.pipe(Effect.orDie, Sql.exists),

      lockOwner: (admin, withFactor) =>
        sql`${active(admin)} and role = 'owner' and (${!withFactor} or ${hasOne(sql)}) for no key update`.pipe(
          Effect.orDie,
          Sql.exists
        ),

      hold: Effect.fnUntraced(function*({ adminId, organizationId }) {
        yield* sql`select 1 from admin where organization_id = ${organizationId} and id = ${adminId} for share`
        yield* sql`select 1 from organization where id = ${organizationId} for share`
      }, Effect.orDie),

      mayStart: (admin, factor, { issuer, way }) => {
        const open = way === "invitation"
          ? sql`true`
          : way === "identity_provider"
          ? sql`exists (
              select 1 from identity_link
              where identity_link.organization_id = admin.organization_id and admin_id = admin.id
                and issuer = ${issuer ?? null})`
          : maySignInHere(sql)
        const own = factor === null || factor === "identity_provider" ? sql`true` : hasOne(sql)
        return sql`${active(admin)} and ${open} and ${own}`.pipe(Effect.orDie, Sql.exists)
      },

      nameAndBrowser: ({ adminId, organizationId }, digest) =>
        sql<{ name: string | null; knownSince: Date | null }>`
          select coalesce(name, email) as name, (
            select known_since from known_browser
            where known_browser.organization_id = ${organizationId} and admin_id = ${adminId}
              and digest = ${digest}) as "knownSince"
          from admin where organization_id = ${organizationId} and id = ${adminId}`.pipe(
          Effect.orDie,
          Effect.map(([found]) => found ?? { name: null, knownSince: null })
        ),

      byPasskey: (credentialId, organizationId) =>
        Tenant.directory(sql)(sql<AdminRef>`
          select passkey.organization_id as "organizationId", admin_id as "adminId" from passkey
          join admin on admin.organization_id = passkey.organization_id and admin.id = admin_id
          where credential_id = ${credentialId} and disabled_at is null and joined_at is not null
            and ${maySignInHere(sql)}
            ${organizationId === null ? sql`` : sql`and passkey.organization_id = ${organizationId}`}`)
    })
  })
)
