import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrate from "../../../src/layers/sql/Migrate.ts"
import { migrations } from "../../../src/layers/sql/migrations/index.ts"
import { forEachDatabase } from "../../support/database.ts"
import { openEmbedded } from "../../support/spare.ts"

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

  it("are lent again, empty, whatever a session has left in them, but for a change of the schema", async () => {
    const counted = `select count(*)::int as count, current_user as role from simulated_account`
    const first = await openEmbedded()
    await first.exec("set role console_owner")
    await first.exec("begin; set local lock_timeout = 1; create temporary table kept ()")
    await first.close()
    const second = await openEmbedded()
    expect(second).toBe(first)
    expect((await second.query(counted)).rows).toEqual([{ count: 0, role: "postgres" }])
    await second.exec("alter table simulated_account add column planted int")
    await second.close()
    expect(second.closed).toBe(true)
  })
})
