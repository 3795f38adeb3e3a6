import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CredentialEndings } from "../../../ports/credentials/CredentialEndings.ts"
import * as Ports from "../../../ports/index.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The condition that an admin has a second factor. */
export const hasOne = (sql: SqlClient.SqlClient) =>
  sql`(
    exists (select 1 from totp where totp.organization_id = admin.organization_id and totp.admin_id = admin.id)
    or exists (
      select 1 from passkey where passkey.organization_id = admin.organization_id and passkey.admin_id = admin.id))`

/** Locks an active admin for changes of their sign-in; false where they are disabled. */
export const lockActive = (sql: SqlClient.SqlClient, { adminId, organizationId }: Ports.AdminRef) =>
  sql`
    select 1 from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null
    for no key update`.pipe(Effect.orDie, Sql.exists)

/** The factors of an admin together. */
export const layer = Layer.effect(
  Ports.FactorRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const endings = yield* CredentialEndings

    const isTrue = (rows: Effect.Effect<ReadonlyArray<{ readonly found: boolean }>, SqlError.SqlError>) =>
      rows.pipe(Effect.orDie, Effect.map(([row]) => row?.found ?? false))

    const removeAll = Effect.fnUntraced(function*({ adminId, organizationId }: Ports.AdminRef) {
      const mine = sql`organization_id = ${organizationId} and admin_id = ${adminId}`
      yield* Tenant.post(sql)(sql`delete from recovery_code where ${mine}`)
      const removed = yield* Effect.all([
        sql`delete from totp where ${mine} returning 1`,
        sql`delete from passkey where ${mine} returning 1`
      ], Tenant.together)
      return removed.flat().length
    }, Effect.orDie)

    return Ports.FactorRecords.of({
      has: ({ adminId, organizationId }) =>
        isTrue(sql`
          select ${hasOne(sql)} as found from admin where organization_id = ${organizationId} and id = ${adminId}`),

      isAsked: ({ adminId, organizationId }) =>
        isTrue(sql`
          select ${hasOne(sql)} or requires_second_factor as found
          from admin join organization on organization.id = admin.organization_id
          where admin.organization_id = ${organizationId} and admin.id = ${adminId}`),

      isRemembered: ({ adminId, organizationId, sessionId }, since) =>
        isTrue(sql`
          select not ${hasOne(sql)} or coalesce(factor_at > ${since}, false) as found
          from admin join console_session on console_session.organization_id = admin.organization_id
            and admin_id = admin.id and console_session.id = ${sessionId}
          where admin.organization_id = ${organizationId} and admin.id = ${adminId}`),

      removeAll,

      reset: Effect.fnUntraced(function*(admin) {
        yield* lockActive(sql, admin)
        const factors = yield* removeAll(admin)
        const sessions = factors === 0 ? 0 : yield* endings.endSessions(admin)
        return { factors, sessions }
      }),

      isRequired: (id) => isTrue(sql`select requires_second_factor as found from organization where id = ${id}`),

      setRequired: Effect.fnUntraced(function*(id, required) {
        const set = yield* sql`
          update organization set requires_second_factor = ${required}
          where id = ${id} and requires_second_factor <> ${required} returning 1`
        if (set.length === 0) return null
        if (!required) return 0
        const ended = yield* sql`
          delete from console_session using admin
          where console_session.organization_id = ${id} and admin.organization_id = ${id}
            and admin.id = admin_id and not ${hasOne(sql)} and factor is distinct from 'identity_provider'
          returning 1`
        return ended.length
      }, Effect.orDie)
    })
  })
)
