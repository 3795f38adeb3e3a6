import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { AdminPasswords } from "../../../ports/signin/AdminPasswords.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { maySignInHere } from "./IdentityProviders.ts"

interface Row {
  readonly organizationId: OrganizationId
  readonly adminId: string
  readonly hash: string | null
}

const redacted = <A extends Row>(row: A) => ({ ...row, hash: row.hash === null ? null : Redacted.make(row.hash) })

export const layer = Layer.effect(
  AdminPasswords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`organization_id as "organizationId", id as "adminId", password_hash as hash`)

    return AdminPasswords.of({
      find: (organization, email, { address, browser, since }) => {
        // PostgreSQL has no text with a NUL in it, and so no admin of such a name.
        if (`${organization}${email}`.includes("\u0000")) return Effect.succeed(undefined)
        const of = sql`known_browser.organization_id = admin.organization_id and admin_id = admin.id
          and last_used_at > ${since}`
        return Effect.map(
          Tenant.directory(sql)(sql<Row & { readonly knownBrowser: boolean; readonly knownAddress: boolean }>`
            select ${columns},
              exists (select 1 from known_browser where ${of} and digest = ${browser}) as "knownBrowser",
              exists (select 1 from known_browser where ${of} and address = ${address}) as "knownAddress"
            from admin
            where organization_id = ${organization} and lower(email collate "C") = ${email.toLowerCase()}
              and disabled_at is null and removed_at is null and joined_at is not null
              and ${maySignInHere(sql)}`),
          ([row]) => row === undefined ? undefined : redacted(row)
        )
      },

      own: ({ adminId, organizationId }, apiKey) => {
        const family = apiKey === null ? sql`null` : sql`(
          select coalesce(root_id, api_key.id)::text from api_key
          where api_key.organization_id = ${organizationId} and api_key.id = ${apiKey}::uuid)`
        return sql<Row & { readonly email: string; readonly changedAt: Date | null; readonly family: string | null }>`
          select ${columns}, email, password_changed_at as "changedAt", ${family} as family
          from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row === undefined ? undefined : redacted(row))
        )
      },

      rehash: ({ adminId, hash, organizationId }, next) =>
        sql`
          update admin set password_hash = ${Redacted.value(next)}
          where organization_id = ${organizationId} and id = ${adminId}
            and password_hash = ${hash === null ? null : Redacted.value(hash)}`.pipe(Effect.orDie, Effect.asVoid),

      set: ({ adminId, organizationId }, hash, now) =>
        Tenant.post(sql)(sql`
          update admin set password_hash = ${Redacted.value(hash)}, password_changed_at = ${now},
            joined_at = coalesce(joined_at, ${now}::timestamptz), invitation_digest = null,
            invitation_pepper_id = null
          where organization_id = ${organizationId} and id = ${adminId}`),

      replace: ({ adminId, organizationId }, hash, before, now) =>
        sql`
          update admin set password_hash = ${Redacted.value(hash)}, password_changed_at = ${now}
          where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null
            and password_changed_at is not distinct from ${before}::timestamptz
          returning id`.pipe(Effect.orDie, Sql.exists)
    })
  })
)
