import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Outage from "../../../src/layers/postgres/DatabaseOutage.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { observed } from "../../support/observed.ts"
import { pglite } from "../../support/postgres/database.ts"

describe("an outage of the database", () => {
  layer(pglite)((it) => {
    it.effect("is logged once when it begins and once when it ends, whatever notices it, and counted each time", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const slow = Tenant.directory(sql, "1 second")(Effect.never)
        const { lines, metrics } = yield* observed(Effect.gen(function*() {
          yield* Tenant.directory(sql)(sql`select 1`)
          for (let asked = 0; asked < 3; asked++) {
            const asking = yield* Effect.forkChild(Effect.flip(slow))
            yield* TestClock.adjust("3 seconds")
            yield* Fiber.join(asking)
          }
          yield* Tenant.directory(sql)(sql`select 1`)
          yield* Tenant.directory(sql)(sql`select 1`)
          yield* Outage.lost(sql, "gone for a moment")
          yield* Outage.answered(sql)
        }))
        expect(lines.map(({ message }) => message)).toEqual([
          "The database is away: no answer within 1s",
          "The database is back"
        ])
        expect(metrics).toContain("console_database_failures_total 4")
        expect(metrics).toContain("console_database_away 0")
      }))
  })

  layer(pglite)((it) => {
    it.effect("ends with the first statement that is answered, one for many requests too", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Outage.lost(sql, "gone")
        expect(Outage.isAway(sql)).toBe(true)
        expect(yield* Tenant.askForMany(sql, "select 1 as one", [])).toEqual([{ one: 1 }])
        expect(Outage.isAway(sql)).toBe(false)
      }))
  })
})
