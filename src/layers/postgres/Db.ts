import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Ports from "../../ports/index.ts"
import * as Tenant from "./Tenant.ts"

/** The time that a supervisor's question waits for the database. */
const checkDeadline = Duration.seconds(2)

/** The port over the tenant's transaction. */
export const layer = Layer.effect(
  Ports.Db,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Ports.Db.of({
      transaction: (organizationId, effect) => Tenant.transaction(sql, organizationId)(effect),
      read: (organizationId, effect) => Tenant.transaction(sql, organizationId, { access: "read" })(effect),
      check: Effect.asVoid(Tenant.directory(sql, checkDeadline)(sql`select 1`))
    }))
)
