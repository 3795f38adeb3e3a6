import { describe, expect, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import * as DatabaseClock from "../../../src/layers/postgres/DatabaseClock.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import { forEachDatabase, owners } from "../../support/postgres/database.ts"

const milli = 1_000_000n

describe("DatabaseClock", () => {
  describe("make", () => {
    it("runs on the monotonic time from its anchor, and holds where a new anchor lies behind", () => {
      let monotonic = 500n * milli
      const { anchor, clock } = DatabaseClock.make(1_000n * milli, () => monotonic)
      const now = () => clock.currentTimeMillisUnsafe()
      expect(now()).toBe(1_000)
      monotonic += 250n * milli
      expect(now()).toBe(1_250)
      expect(clock.currentTimeNanosUnsafe()).toBe(1_250n * milli)
      anchor(1_150n * milli, monotonic)
      expect(now()).toBe(1_250)
      monotonic += 99n * milli
      expect(now()).toBe(1_250)
      monotonic += 51n * milli
      expect(now()).toBe(1_300)
      anchor(9_000n * milli, monotonic)
      expect(now()).toBe(9_000)
      anchor(9_000n * milli, monotonic - 10n * milli)
      expect(now()).toBe(9_010)
      expect(clock.monotonicTimeNanosUnsafe()).toBe(monotonic)
    })
  })

  forEachDatabase((_, database) => {
    layer(Layer.provideMerge(DatabaseClock.layer, database), { excludeTestServices: true })((it) => {
      it.effect("gives the database's time, whatever happens to the host's wall clock", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const database = Effect.map(
            sql<{ at: Date }>`select clock_timestamp() as at`,
            ([row]) => row?.at.getTime() ?? 0
          )
          const before = yield* database
          yield* Effect.acquireRelease(
            Effect.sync(() => vi.spyOn(Date, "now").mockReturnValue(0)),
            (spy) => Effect.sync(() => spy.mockRestore())
          )
          const current = yield* Clock.currentTimeMillis
          vi.restoreAllMocks()
          const after = yield* database
          const tolerance = 1_000
          expect(current).toBeGreaterThan(before - tolerance)
          expect(current).toBeLessThan(after + tolerance)
        }))

      it.effect("sleeps", () =>
        Effect.gen(function*() {
          const before = yield* Clock.monotonicTimeNanos
          yield* Effect.sleep("20 millis")
          expect((yield* Clock.monotonicTimeNanos) - before).toBeGreaterThanOrEqual(15n * milli)
        }))
    })
  })

  it.live("starts on the host's time while the database is away", () =>
    Effect.gen(function*() {
      const away = Postgres.layer({ url: Redacted.make("postgres://console@127.0.0.1:1/console") })
      const context = yield* Layer.build(Layer.provide(DatabaseClock.layer, away))
      const before = yield* Clock.currentTimeMillis
      const current = yield* Effect.provideContext(Clock.currentTimeMillis, context)
      expect(Math.abs(current - before)).toBeLessThan(1_000)
    }))

  it.effect("asks the database again every 30 seconds", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const clock = Context.get(yield* Layer.build(DatabaseClock.layer), Clock.Clock)
      const turn = Effect.promise(() => new Promise(setImmediate))
      const year = Effect.map(turn, () => new Date(clock.currentTimeMillisUnsafe()).getUTCFullYear())
      yield* sql`create function public.clock_timestamp() returns timestamptz language sql
        as $$ select timestamptz '2140-06-01Z' $$`
      yield* sql`set search_path = public, pg_catalog`
      yield* TestClock.adjust("29 seconds")
      yield* sql`select 1`
      expect(yield* year).toBeLessThan(2140)
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.repeat(year, { until: (year) => year === 2140 })).toBe(2140)
    }).pipe(Effect.provide(owners.pglite)))
})
