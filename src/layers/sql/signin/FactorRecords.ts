import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Ports from "../../../ports/index.ts"
import * as Endings from "../credentials/CredentialEndings.ts"
import * as FactorChanges from "./FactorChanges.ts"

/** Second factors in SQL, as an operator changes them. */
export const layer = Layer.effect(
  Ports.FactorRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return Ports.FactorRecords.of({
      reset: Effect.fnUntraced(function*(admin) {
        yield* FactorChanges.lock(sql, admin)
        const factors = yield* FactorChanges.removeAll(sql, admin)
        const sessions = factors === 0 ? 0 : yield* Endings.endSessions(sql, admin.organizationId, admin.adminId)
        return { factors, sessions }
      }),
      setRequired: (id, required) => FactorChanges.setRequired(sql, id, required)
    })
  })
)
