import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { freePasswordFailures } from "../../../domain/Limits.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import { FailedPasswords, type PasswordFailures } from "../../../ports/signin/FailedPasswords.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const columns = "failures, since, cardinality(addresses) as addresses, ip, request_id, via, journaled_at, burst"

/** The number of addresses that are counted one by one; past it the count is at least this. */
const addressesCounted = 100

const adminsPerSweep = 1000

export const layer = Layer.effect(
  FailedPasswords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return FailedPasswords.of({
      add: ({ admin, key }, { ip, requestId, via }, now) =>
        Effect.asVoid(
          Tenant.directory(sql)(sql`
          insert into password_failure as kept
            (key, organization_id, admin_id, failures, since, addresses, ip, request_id, via)
          values (${key}, ${admin?.organizationId ?? null}, ${admin?.adminId ?? null}, 1, ${now},
            ${ip === null ? [] : [ip]}::text[], ${ip}, ${requestId}, ${via})
          on conflict (key) do update set
            organization_id = excluded.organization_id, admin_id = excluded.admin_id, failures = kept.failures + 1,
            since = case when kept.failures = 0 then excluded.since else kept.since end,
            addresses = case
              when cardinality(kept.addresses) >= ${addressesCounted} or kept.addresses @> excluded.addresses
                then kept.addresses
              else kept.addresses || excluded.addresses end,
            ip = excluded.ip, request_id = excluded.request_id, via = excluded.via`)
        ),

      due: (before) =>
        Tenant.directory(sql)(sql<AdminRef>`
          select organization_id as "organizationId", admin_id as "adminId" from password_failure
          where admin_id is not null and failures > 0
            and (journaled_at is null or journaled_at <= ${before}
              or not burst and failures >= ${freePasswordFailures})
          limit ${adminsPerSweep}`),

      lock: ({ adminId, organizationId }) =>
        sql<PasswordFailures>`
          select ${sql.literal(columns)} from password_failure
          where organization_id = ${organizationId} and admin_id = ${adminId} and failures > 0 for update`.pipe(
          Effect.orDie,
          Sql.one
        ),

      setJournaled: ({ adminId, organizationId }, now, burst) =>
        Tenant.post(sql)(sql`
          update password_failure set failures = 0, addresses = '{}', journaled_at = ${now}, burst = ${burst}
          where organization_id = ${organizationId} and admin_id = ${adminId}`),

      forget: (before) =>
        Effect.asVoid(
          Tenant.directory(sql)(sql`
          delete from password_failure
          where failures = 0 and journaled_at <= ${before} or admin_id is null and since <= ${before}`)
        )
    })
  })
)
