import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AiConnection, ApiKey } from "../../../domain/credentials/Credential.ts"
import { ResourceMissing } from "../../../domain/Failure.ts"
import {
  type OrganizationId,
  readsArchive as isArchiveReader,
  Scope,
  superadmins
} from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Bearers from "./Bearers.ts"
import * as Statements from "./BearerStatements.ts"
import { endOfConnection, endOfKey } from "./CredentialEndings.ts"
import { LastUses } from "./LastUses.ts"
import { shownAccess } from "./ShownAccess.ts"

/** The caller of a key: found by its digest, joined to admin and organization at every request. */
export const layer = Layer.effect(
  Ports.Credentials,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const identify = yield* Bearers.make
    const uses = yield* LastUses
    const actAs = Effect.fnUntraced(function*(organizationId: OrganizationId, email: string) {
      const [row] = yield* Tenant.transaction(sql, organizationId)(
        sql<Statements.AdminRow>`
        select ${
          sql.literal(Statements.adminColumns)
        } from admin join organization on organization.id = admin.organization_id
        where admin.organization_id = ${organizationId} and lower(email collate "C") = ${email.toLowerCase()}
          and disabled_at is null and removed_at is null`
      )
      if (row === undefined) return yield* new ResourceMissing({})
      return Bearers.caller(row, Scope.literals, null, { kind: "console", id: row.admin_id, label: "embedded" })
    })

    return Ports.Credentials.of({
      authenticate: (token, resource) => identify.authenticate(token, resource),
      isWellFormed: (token) => identify.isWellFormed(token),
      actAs,

      isLive: ({ adminId, credential, organizationId, readsArchive, role }, now) => {
        const mine = sql`organization_id = ${organizationId} and admin_id = ${adminId} and id = ${credential.id}::uuid`
        const unended = sql`revoked_at is null and (expires_at is null or expires_at > ${now})`
        const credentials = {
          api_key: sql`exists (
            select 1 from api_key where ${mine} and ${unended}
              and (admin.password_changed_at is null or admin.password_changed_at <= api_key.created_at))`,
          token: sql`exists (select 1 from ai_connection where ${mine} and ${unended})`,
          oauth: sql`exists (select 1 from ai_connection where ${mine} and ${unended})`,
          // Programs that act as an admin have no session.
          console: credential.id === adminId ? sql`true` : sql`exists (select 1 from console_session where ${mine})`
        }
        return sql<{ readonly archive_access: boolean }>`
          select archive_access from admin
          where admin.organization_id = ${organizationId} and admin.id = ${adminId} and role = ${role}
            and disabled_at is null and ${credentials[credential.kind]}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row !== undefined && isArchiveReader(role, row.archive_access) === readsArchive)
        )
      },

      connections: (caller) => {
        const everything = superadmins.includes(caller.role)
        return Effect.andThen(
          uses.written,
          sql<AiConnection>`
          select 'ai_connection' as object, ai_connection.id, kind, label,
            case when kind = 'oauth'
              then jsonb_build_object('name', client_name, 'host', client_host, 'known', client_known) end as client,
            mode, scopes, scope_type, ${shownAccess(sql, caller)},
            case when ${everything} then admin.email end as owner_email, admin_id = ${caller.adminId} as mine,
            has_stored_password, ai_connection.created_at, last_used_at, expires_at,
            ${endOfConnection(sql)} as revoked_at
          from ai_connection
          join admin on admin.organization_id = ai_connection.organization_id and admin.id = admin_id
          where ai_connection.organization_id = ${caller.organizationId}
            and (${everything} or admin_id = ${caller.adminId} and (${caller.readsArchive} or kind = 'oauth'))
          order by ai_connection.created_at desc, ai_connection.id desc`
        ).pipe(Effect.orDie)
      },

      apiKeys: (caller) => {
        const everything = superadmins.includes(caller.role)
        return Effect.andThen(
          uses.written,
          sql<ApiKey>`
          select 'api_key' as object, api_key.id, label, scopes,
            case when ${everything} then admin.email end as owner_email, admin_id = ${caller.adminId} as mine,
            api_key.created_at, last_used_at, expires_at, ${endOfKey(sql)} as revoked_at
          from api_key
          join admin on admin.organization_id = api_key.organization_id and admin.id = admin_id
          where api_key.organization_id = ${caller.organizationId}
            and (${everything} or admin_id = ${caller.adminId})
          order by api_key.created_at desc, api_key.id desc`
        ).pipe(Effect.orDie)
      },

      keyEndings: (caller) =>
        sql<{ id: string; ending: string }>`
          select id, last_four as ending from api_key
          where organization_id = ${caller.organizationId} and last_four is not null
            and (${superadmins.includes(caller.role)} or admin_id = ${caller.adminId})`.pipe(
          Effect.orDie,
          Effect.map((rows) => new Map(rows.map(({ ending, id }) => [id, ending])))
        )
    })
  })
)
