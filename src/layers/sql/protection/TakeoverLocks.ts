import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Due } from "../../../ports/Due.ts"
import { type TakeoverLock, TakeoverLocks } from "../../../ports/protection/TakeoverLocks.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"

export const layer = Layer.effect(
  TakeoverLocks,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    due: (until, limit) =>
      Tenant.directory(sql)(sql<Due>`
        select organization_id as "organizationId", id from account
        where locked_at <= ${until} and ${isOpen(sql, "account")} order by locked_at limit ${limit}`),

    hold: (organizationId, ids, until) =>
      Effect.orDie(sql<TakeoverLock>`
        select id, locked_at from account
        where organization_id = ${organizationId} and id = any(${ids}::uuid[]) and locked_at <= ${until}
        order by id for no key update skip locked`),

    end: (organizationId, ids) =>
      Tenant.post(sql)(sql`
        update account set locked_at = null, lock_reason = null
        where organization_id = ${organizationId} and id = any(${ids}::uuid[])`)
  }))
)
