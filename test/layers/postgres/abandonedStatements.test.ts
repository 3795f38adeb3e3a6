import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { postgresUrl } from "../../support/postgres/database.ts"

const connect = (url: string, maxConnections: number) =>
  Effect.map(
    Layer.build(Postgres.layer({ url: Redacted.make(url), maxConnections })),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

/** How many sessions of the database sleep. */
const asleep = (observer: SqlClient.SqlClient) =>
  Effect.map(
    observer<{ count: number }>`select count(*) from pg_stat_activity
      where query like '%pg_sleep(600)%' and state = 'active' and datname = current_database() and pid <> pg_backend_pid()`,
    ([row]) => row?.count
  )

describe("Statements that nobody waits for any more", () => {
  for (const maxConnections of [1, 4, 8]) {
    it.live(`are left, all at once, on each of ${maxConnections} connections, and the next ones are answered`, () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const sql = yield* connect(url, maxConnections)
        const observer = yield* connect(url, 1)
        const sleeps = maxConnections < 4 ? maxConnections : maxConnections / 2
        const fibers = yield* Effect.forEach(
          Array.from({ length: sleeps }),
          () => Effect.forkChild(Tenant.transaction(sql, "acme", { access: "read" })(sql`select pg_sleep(600)`))
        )
        yield* Effect.repeat(asleep(observer), { until: (count) => count === sleeps })
        const neighbours = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, id) => id),
          (id) =>
            Effect.forkChild(Tenant.transaction(sql, "bolt", { access: "read" })(sql`select ${id}::int4 as id`), {
              startImmediately: true
            })
        )
        yield* Effect.forEach(fibers, Fiber.interrupt, { concurrency: "unbounded" })
        expect(yield* Effect.forEach(neighbours, Fiber.join)).toEqual(
          Array.from({ length: 8 }, (_, id) => [{ id }])
        )
        expect(yield* asleep(observer)).toBe(0)
      }))
  }

  it.live("fail with the end of their client, though the server goes on with them", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const observer = yield* connect(url, 1)
      const scope = yield* Scope.make()
      const sql = yield* Scope.provide(connect(url, 4), scope)
      const sleeping = yield* Effect.forkChild(
        Effect.exit(Tenant.transaction(sql, "acme", { access: "read" })(sql`select pg_sleep(600)`))
      )
      yield* Effect.repeat(asleep(observer), { until: (count) => count === 1 })
      yield* Scope.close(scope, Exit.void)
      expect(Exit.isFailure(yield* Fiber.join(sleeping))).toBe(true)
    }))
})
