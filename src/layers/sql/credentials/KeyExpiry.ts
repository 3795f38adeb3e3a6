import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ExpiringKey, KeyExpiry } from "../../../ports/credentials/KeyExpiry.ts"
import type { Due } from "../../../ports/Due.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"

export const layer = Layer.effect(
  KeyExpiry,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    due: ({ age, now, soon }, limit) =>
      Tenant.directory(sql)(sql<Due>`
        select organization_id as "organizationId", id from api_key
        where revoked_at is null and expiry_told is distinct from 'ended' and (
          expires_at <= ${now} or expires_at <= ${soon} and expiry_told is null and created_at <= ${age})
          and ${isOpen(sql, "api_key")}
        order by expires_at limit ${limit}`),

    hold: (organizationId, ids, now) =>
      Effect.orDie(sql<ExpiringKey>`
        select id, admin_id, label, expires_at, expires_at <= ${now} as ended from api_key
        where organization_id = ${organizationId} and id = any(${ids}::uuid[]) and revoked_at is null
          and expiry_told is distinct from (case when expires_at <= ${now} then 'ended' else 'soon' end)
        order by id for no key update skip locked`),

    setReported: (organizationId, { ended, id }) =>
      Effect.asVoid(Effect.orDie(sql`
        update api_key set expiry_told = ${ended ? "ended" : "soon"}
        where organization_id = ${organizationId} and id = ${id}`))
  }))
)
