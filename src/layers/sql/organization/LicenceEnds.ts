import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import type { Due } from "../../../ports/Due.ts"
import { type Licence, LicenceEnds } from "../../../ports/organization/LicenceEnds.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The columns that a licence is read from. */
export const licenceColumns = "status, managed, billing_state, trial_ends_at, valid_until, closed_at"

const idsOf = <Id>(rows: ReadonlyArray<{ readonly id: Id }>): ReadonlyArray<Id> => rows.map(({ id }) => id)

export const layer = Layer.effect(
  LicenceEnds,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    due: (now, ended) =>
      Effect.map(
        Tenant.directory(sql)(sql<{ id: OrganizationId }>`
          select id from organization
          where closed_at is null and (managed and billing_state = 'trial' and trial_ends_at <= ${now}
            or not managed and status = 'active' and valid_until <= ${ended})
          order by id`),
        idsOf
      ),

    leaving: (until, limit) =>
      Tenant.directory(sql)(sql<Due>`
        select organization_id as "organizationId", id from account
        where licence_stopped_at <= ${until} and offboarded_at is null
          and (exists (select from service_session as own where own.organization_id = account.organization_id
              and own.account_id = account.id and slot <> 'retired')
            or exists (select from account_secret as held where held.organization_id = account.organization_id
              and held.account_id = account.id and erase_at is null))
        order by organization_id, id limit ${limit}`),

    hold: (organizationId) =>
      Effect.orDie(Sql.one(sql<Licence>`
        select ${sql.literal(licenceColumns)} from organization where id = ${organizationId} for no key update`)),

    holdStopped: (organizationId, ids) =>
      Effect.map(
        Effect.orDie(sql<{ id: AccountId }>`
          select id from account
          where organization_id = ${organizationId} and id = any(${ids}::uuid[]) and licence_stopped_at is not null
          order by id for no key update`),
        idsOf
      ),

    leave: (organizationId, ids, now) =>
      Effect.asVoid(Effect.orDie(sql`
        update account set session_ref = null, stopped_at = coalesce(stopped_at, ${now}::timestamptz),
          stop_reason = case
            when stop_reason = 'account_deleted_by_platform' then stop_reason else 'session_lost' end
        where organization_id = ${organizationId} and id = any(${ids}::uuid[])`)),

    expireLinks: Effect.fnUntraced(function*(until) {
      const unused = sql`used_at is null and created_at <= ${until}`
      const ending = yield* Tenant.directory(sql)(sql<{ id: string }>`
        select distinct organization_id as id from sign_up_link where ${unused}`)
      for (const { id } of ending) {
        yield* Tenant.transaction(sql, id)(sql`delete from sign_up_link where organization_id = ${id} and ${unused}`)
      }
    })
  }))
)
