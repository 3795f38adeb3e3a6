import { Clock, Duration, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import {
  type Caller,
  type OrganizationId,
  type ReachLimit,
  readsArchive,
  type Role,
  Scope,
  superadmins
} from "../../domain/Access.ts"
import type { AiConnection, ApiKey } from "../../domain/Credential.ts"
import { InvalidApiKey, InvalidToken, ResourceMissing } from "../../domain/Failure.ts"
import { OAuthSecrets } from "../../oauth/Ports.ts"
import * as Ports from "../../ports/index.ts"
import { ApiKeys } from "../crypto/ApiKeys.ts"
import { endOfConnection, endOfKey } from "./Endings.ts"
import { shownReach } from "./ShownReach.ts"
import * as Tenant from "./Tenant.ts"

interface KeyRow {
  readonly organization_id: OrganizationId
  readonly closed: boolean
  readonly id: string
  readonly label: string
  readonly scopes: ReadonlyArray<Scope>
  readonly stale: boolean
  readonly admin_id: string
  readonly admin_name: string | null
  readonly role: Role
  readonly archive_access: boolean
}

type AdminRow = Omit<KeyRow, "id" | "label" | "scopes" | "stale">

interface TokenRow extends KeyRow {
  readonly reach: ReachLimit["scopeType"]
}

const caller = (
  row: AdminRow,
  scopes: ReadonlyArray<Scope>,
  limit: ReachLimit | null,
  credential: Caller["Service"]["credential"]
) => ({
  organizationId: row.organization_id,
  organizationClosed: row.closed,
  adminId: row.admin_id,
  adminName: row.admin_name,
  role: row.role,
  readsArchive: readsArchive(row.role, row.archive_access),
  scopes,
  limit,
  credential
})

/** How old `last_used_at` may be before a request writes it again. */
const lastUsedGrain = Duration.minutes(1)

/** Who a key stands for, by its digest, joined to admin and organization at every request. */
export const layer = Layer.effect(
  Ports.Credentials,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const keys = yield* ApiKeys
    const secrets = yield* OAuthSecrets

    const authenticateToken = Effect.fnUntraced(function*(token: Redacted.Redacted, resource: string) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const usedBefore = new Date(now.getTime() - Duration.toMillis(lastUsedGrain))
      const [row] = yield* Tenant.directory(sql)(sql<TokenRow>`
        select ai_connection.organization_id, organization.closed_at is not null as closed, ai_connection.id, label,
          array(select unnest(oauth_token.scopes) intersect select unnest(ai_connection.scopes)) as scopes,
          last_used_at is null or last_used_at <= ${usedBefore} as stale,
          case when all_accounts then 'all' else scope_type end as reach,
          admin.id as admin_id, coalesce(admin.name, admin.email) as admin_name, admin.role, admin.archive_access
        from oauth_token
        join ai_connection on ai_connection.organization_id = oauth_token.organization_id
          and ai_connection.id = oauth_token.connection_id
        join admin on admin.organization_id = ai_connection.organization_id and admin.id = ai_connection.admin_id
        join organization on organization.id = ai_connection.organization_id
        where ${sql.in("oauth_token.digest", secrets.digests(token))} and oauth_token.kind = 'access'
          and oauth_token.expires_at > ${now} and ai_connection.resource = ${resource} and revoked_at is null
          and disabled_at is null`)
      if (row === undefined) return yield* new InvalidToken({})
      if (row.stale) {
        yield* Tenant.directory(sql)(sql`
          update ai_connection set last_used_at = ${now}
          where organization_id = ${row.organization_id} and id = ${row.id}
            and (last_used_at is null or last_used_at <= ${usedBefore})`)
      }
      const limit = { scopeType: row.reach, connectionId: row.id }
      return caller(row, row.scopes, limit, { kind: "oauth", id: row.id, label: row.label })
    })

    const isWellFormed = (token: Redacted.Redacted) => secrets.isWellFormed("access", token) || keys.isWellFormed(token)

    const authenticate = Effect.fnUntraced(function*(token: Redacted.Redacted, resource: string) {
      if (secrets.isWellFormed("access", token)) return yield* authenticateToken(token, resource)
      if (!keys.isWellFormed(token)) return yield* new InvalidApiKey({})
      const now = new Date(yield* Clock.currentTimeMillis)
      const usedBefore = new Date(now.getTime() - Duration.toMillis(lastUsedGrain))
      const [row] = yield* Tenant.directory(sql)(sql<KeyRow>`
        select api_key.organization_id, organization.closed_at is not null as closed, api_key.id, api_key.label,
          api_key.scopes, last_used_at is null or last_used_at <= ${usedBefore} as stale, admin.id as admin_id,
          coalesce(admin.name, admin.email) as admin_name, admin.role, admin.archive_access
        from api_key
        join admin on admin.organization_id = api_key.organization_id and admin.id = api_key.admin_id
        join organization on organization.id = api_key.organization_id
        where ${sql.in("api_key.digest", keys.digests(token))}
          and revoked_at is null and (expires_at is null or expires_at > ${now})
          and disabled_at is null and (password_changed_at is null or password_changed_at <= api_key.created_at)`)
      if (row === undefined) return yield* new InvalidApiKey({})
      if (row.stale) {
        yield* Tenant.directory(sql)(sql`
          update api_key set last_used_at = ${now}
          where organization_id = ${row.organization_id} and id = ${row.id}
            and (last_used_at is null or last_used_at <= ${usedBefore})`)
      }
      return caller(row, row.scopes, null, { kind: "api_key", id: row.id, label: row.label })
    })

    const actAs = Effect.fnUntraced(function*(organizationId: OrganizationId, email: string) {
      const [row] = yield* Tenant.transaction(sql, organizationId)(
        sql<AdminRow>`
        select organization.id as organization_id, organization.closed_at is not null as closed, admin.id as admin_id,
          coalesce(admin.name, admin.email) as admin_name, admin.role, admin.archive_access
        from admin join organization on organization.id = admin.organization_id
        where admin.organization_id = ${organizationId} and lower(email collate "C") = ${email.toLowerCase()}
          and disabled_at is null`
      )
      if (row === undefined) return yield* new ResourceMissing({})
      return caller(row, Scope.literals, null, { kind: "console", id: row.admin_id, label: "embedded" })
    })

    return Ports.Credentials.of({
      authenticate,
      isWellFormed,
      actAs,

      connections: (caller) => {
        const everything = superadmins.includes(caller.role)
        return sql<AiConnection>`
          select 'ai_connection' as object, ai_connection.id, kind, label,
            case when kind = 'oauth'
              then jsonb_build_object('name', client_name, 'host', client_host, 'known', client_known) end as client,
            mode, scopes, scope_type, ${shownReach(sql, caller)},
            case when ${everything} then admin.email end as owner_email, admin_id = ${caller.adminId} as mine,
            has_stored_password, ai_connection.created_at, last_used_at, expires_at,
            ${endOfConnection(sql)} as revoked_at
          from ai_connection
          join admin on admin.organization_id = ai_connection.organization_id and admin.id = admin_id
          where ai_connection.organization_id = ${caller.organizationId}
            and (${everything} or admin_id = ${caller.adminId} and (${caller.readsArchive} or kind = 'oauth'))
          order by ai_connection.created_at desc, ai_connection.id desc`.pipe(Effect.orDie)
      },

      apiKeys: (caller) => {
        const everything = superadmins.includes(caller.role)
        return sql<ApiKey>`
          select 'api_key' as object, api_key.id, label, scopes,
            case when ${everything} then admin.email end as owner_email, admin_id = ${caller.adminId} as mine,
            api_key.created_at, last_used_at, expires_at, ${endOfKey(sql)} as revoked_at
          from api_key
          join admin on admin.organization_id = api_key.organization_id and admin.id = admin_id
          where api_key.organization_id = ${caller.organizationId}
            and (${everything} or admin_id = ${caller.adminId})
          order by api_key.created_at desc, api_key.id desc`.pipe(Effect.orDie)
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
