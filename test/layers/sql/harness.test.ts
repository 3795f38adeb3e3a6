import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrate from "../../../src/layers/sql/Migrate.ts"
import { migrations } from "../../../src/layers/sql/migrations/index.ts"
import { forEachDatabase } from "../../support/database.ts"

describe("the test databases", () => {
  forEachDatabase((name, database) => {
    layer(database)((it) => {
      it.effect("are migrated, and of the version that the suite promises", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ version: string; role: string }>`
            select current_setting('server_version') as version, current_user::text as role`
          expect(row?.version).toMatch(name === "PGlite" ? /^18\./ : /^15\./)
          expect(row?.role).toBe("console_service")
          expect(sql.driver).toBe(name === "PGlite" ? "pglite" : "pg")
          const state = yield* Migrate.state(migrations)
          expect(state.applied).toBe(state.known)
        }))
    })
  })
})
