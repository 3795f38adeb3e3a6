/** Ending credentials in SQL, within the organization's transaction. */
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CredentialEndings } from "../../../ports/credentials/CredentialEndings.ts"
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

/** The credentials of one admin. */
export const layer = Layer.effect(
  CredentialEndings,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    return CredentialEndings.of({
      endKeys: ({ adminId, organizationId }, at) =>
        sql`
          update api_key set revoked_at = ${at}
          where organization_id = ${organizationId} and admin_id = ${adminId} and revoked_at is null
            and (expires_at is null or expires_at > ${at})
          returning id`.pipe(Effect.orDie, Effect.map((rows) => rows.length)),

      lockConnections: ({ adminId, organizationId }) =>
        post(sql`
          select 1 from ai_connection
          where organization_id = ${organizationId} and admin_id = ${adminId} and revoked_at is null
          order by id for update`),

      endConnections: Effect.fnUntraced(function*({ adminId, organizationId }, at) {
        const live = yield* sql<{ readonly id: string }>`
          select id from ai_connection
          where organization_id = ${organizationId} and admin_id = ${adminId} and revoked_at is null order by id`
        for (const { id } of live) yield* disconnect(sql, organizationId, id, at)
        return live.length
      }, Effect.orDie),

      endSessions: Effect.fnUntraced(function*({ adminId, organizationId }, kept = null) {
        yield* post(
          sql`delete from pending_sign_in where organization_id = ${organizationId} and admin_id = ${adminId}`
        )
        const ended = yield* sql`
          delete from console_session
          where organization_id = ${organizationId} and admin_id = ${adminId} and id is distinct from ${kept}::uuid
          returning id`
        return ended.length
      }, Effect.orDie),

      endResets: ({ adminId, organizationId }) =>
        post(sql`
          update password_reset set digest = null, pepper_id = null
          where organization_id = ${organizationId} and admin_id = ${adminId} and digest is not null`),

      forgetBrowsers: ({ adminId, organizationId }, kept = null) =>
        post(sql`
          delete from known_browser
          where organization_id = ${organizationId} and admin_id = ${adminId}
            and digest is distinct from ${kept}::text`)
    })
  })
)
