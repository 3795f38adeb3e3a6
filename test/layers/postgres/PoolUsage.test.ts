import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Metric, Redacted } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { maxWaiting } from "../../../src/layers/postgres/PoolUsage.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { postgresUrl } from "../../support/postgres/database.ts"

const registry = Layer.succeed(Metric.MetricRegistry, new Map())

const database = Layer.unwrap(
  Effect.map(postgresUrl, (url) => Postgres.layer({ url: Redacted.make(url), maxConnections: 1 }))
)

/** What the gauges of the database's connections say. */
const usage = Effect.map(
  PrometheusMetrics.format(),
  (text) =>
    [...text.matchAll(/^console_database_(in_use|waiting|connections_max) (\d+)$/gm)].map(([, name, value]) =>
      `${name} ${value}`
    )
)

describe("the use of connections", () => {
  layer(Layer.provideMerge(database, registry))((it) => {
    it.effect("says how many are in use and how many wait, and comes back to none however the work ends", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const open = yield* Deferred.make<void>()
        const begun = yield* Deferred.make<void>()
        const holder = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.andThen(sql`select 1`, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(open)))
          )
        )
        yield* Deferred.await(begun)
        const given = yield* Effect.forkChild(sql`select 2`, { startImmediately: true })
        const patient = yield* Effect.forkChild(sql.withTransaction(sql`select 3`), { startImmediately: true })
        expect(yield* usage).toEqual(["in_use 1", "waiting 2", "connections_max 1"])
        yield* Fiber.interrupt(given)
        expect(yield* usage).toEqual(["in_use 1", "waiting 1", "connections_max 1"])
        yield* Deferred.succeed(open, undefined)
        yield* Fiber.join(holder)
        yield* Fiber.join(patient)
        yield* Effect.flip(sql`select no_such_column`)
        expect(yield* usage).toEqual(["in_use 0", "waiting 0", "connections_max 1"])
      }))

    it.effect("has a bounded queue: requests beyond it are refused at once, and the others are served", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const open = yield* Deferred.make<void>()
        const begun = yield* Deferred.make<void>()
        const holder = yield* Effect.forkChild(
          sql.withTransaction(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(open)))
        )
        yield* Deferred.await(begun)
        const ask = Tenant.transaction(sql, "nobody")(sql`select 1`)
        const waiting = yield* Effect.forEach(
          Array.from({ length: maxWaiting }),
          () => Effect.forkChild(ask, { startImmediately: true })
        )
        expect(yield* usage).toEqual(["in_use 1", `waiting ${maxWaiting}`, "connections_max 1"])
        for (const more of [ask, Tenant.directory(sql)(sql`select 1`)]) {
          expect(yield* Effect.flip(more)).toMatchObject({ _tag: "service_unavailable", retry_after: 1 })
        }
        yield* Deferred.succeed(open, undefined)
        yield* Fiber.join(holder)
        yield* Effect.forEach(waiting, Fiber.join)
        yield* ask
        expect(yield* usage).toEqual(["in_use 0", "waiting 0", "connections_max 1"])
      }))
  })
})
