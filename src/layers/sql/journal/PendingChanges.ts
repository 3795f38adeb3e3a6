import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type PendingChange, PendingChanges, type PendingIntent } from "../../../ports/journal/PendingChanges.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

export const layer = Layer.effect(
  PendingChanges,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    due: (now) =>
      Tenant.directory(sql)(sql<PendingChange>`
        select organization_id, sequence from pending_change
        where ${now === null ? sql`true` : sql`deadline <= ${now}`} order by organization_id, sequence`),

    find: ({ organization_id, sequence }) =>
      Effect.orDie(Sql.one(sql<PendingIntent>`
        select action, account_id, details, target_type, target_id from journal_event
        where organization_id = ${organization_id} and sequence = ${sequence}`))
  }))
)
