/** Ending credentials in SQL, within the organization's transaction; each answers how many it ended. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Tenant from "../../postgres/Tenant.ts"
import { disconnect } from "../oauth/OAuthGrants.ts"

/** The time that a key ended by itself or by its admin: by a later password, and while the admin is disabled. */
export const endOfKey = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`(select min(ended) from (values
      (api_key.revoked_at),
      (case when admin.password_changed_at > api_key.created_at then admin.password_changed_at end),
      (admin.disabled_at)
    ) as endings (ended)
    where ended = api_key.revoked_at or api_key.expires_at is null or ended < api_key.expires_at)`

/** The time that a connection ended by itself or by its admin, while the admin is disabled. */
export const endOfConnection = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`(select min(ended) from (values (ai_connection.revoked_at), (admin.disabled_at)) as endings (ended)
    where ended = ai_connection.revoked_at or ai_connection.expires_at is null or ended < ai_connection.expires_at)`

/** Locks the first key of the key's family, before a key of it is created or revoked. */
export const lockFamily = (sql: SqlClient.SqlClient, organizationId: string, id: string, lock: "share" | "update") =>
  Tenant.post(sql)(sql`
    select 1 from api_key
    where organization_id = ${organizationId} and id = (
      select coalesce(root_id, id) from api_key where organization_id = ${organizationId} and id = ${id})
    for ${sql.literal(lock)}`)

/** Revokes a key that is locked, and every key that was made by it or by one of those. */
export const revokeKey = (sql: SqlClient.SqlClient, organizationId: string, id: string, at: Date) =>
  sql`
    with recursive family (id) as (
      select ${id}::uuid
      union
      select api_key.id from api_key join family on api_key.parent_id = family.id
      where api_key.organization_id = ${organizationId}
    )
    update api_key set revoked_at = ${at}
    where organization_id = ${organizationId} and id in (select id from family) and revoked_at is null
    returning id`.pipe(Effect.orDie, Effect.map((rows) => rows.length))

/** Revokes the keys of an admin that have not ended, those that wait for the admin to be enabled too. */
export const endKeys = (sql: SqlClient.SqlClient, organizationId: string, adminId: string, at: Date) =>
  sql`
    update api_key set revoked_at = ${at}
    where organization_id = ${organizationId} and admin_id = ${adminId} and revoked_at is null
      and (expires_at is null or expires_at > ${at})
    returning id`.pipe(Effect.orDie, Effect.map((rows) => rows.length))

/**
 * Locks the admin's connections, so that they can be disconnected after the admin was locked: a token request locks the
 * connection first.
 */
export const lockConnections = (sql: SqlClient.SqlClient, organizationId: string, adminId: string) =>
  Tenant.post(sql)(sql`
    select 1 from ai_connection
    where organization_id = ${organizationId} and admin_id = ${adminId} and revoked_at is null
    order by id for update`)

/** Disconnects every application of the admin. */
export const endConnections = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  organizationId: string,
  adminId: string,
  at: Date
) {
  const live = yield* sql<{ readonly id: string }>`
    select id from ai_connection
    where organization_id = ${organizationId} and admin_id = ${adminId} and revoked_at is null order by id`
  for (const { id } of live) yield* disconnect(sql, organizationId, id, at)
  return live.length
}, Effect.orDie)

/** Ends the admin's console sessions, but for one, and the sign-ins that wait for their second factor. */
export const endSessions = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  organizationId: string,
  adminId: string,
  kept: string | null = null
) {
  yield* Tenant.post(sql)(
    sql`delete from pending_sign_in where organization_id = ${organizationId} and admin_id = ${adminId}`
  )
  const ended = yield* sql`
    delete from console_session
    where organization_id = ${organizationId} and admin_id = ${adminId} and id is distinct from ${kept}::uuid
    returning id`
  return ended.length
}, Effect.orDie)

/** Ends the links by which the admin could choose a new password; that they were mailed still counts. */
export const endResets = (sql: SqlClient.SqlClient, organizationId: string, adminId: string) =>
  Tenant.post(sql)(sql`
    update password_reset set digest = null, pepper_id = null
    where organization_id = ${organizationId} and admin_id = ${adminId} and digest is not null`)

/** Forgets the browsers that the admin has signed in with, but for one. */
export const forgetBrowsers = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  adminId: string,
  kept: string | null = null
) =>
  Tenant.post(sql)(sql`
    delete from known_browser
    where organization_id = ${organizationId} and admin_id = ${adminId} and digest is distinct from ${kept}::text`)
