import { describe, expect, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { RateLimited } from "../../../../src/domain/Failure.ts"
import * as Memory from "../../../../src/layers/memory/RateLimiter.ts"
import * as Postgres from "../../../../src/layers/postgres/Postgres.ts"
import * as Sql from "../../../../src/layers/sql/credentials/RateLimiter.ts"
import { RateLimiter } from "../../../../src/ports/RateLimits.ts"
import { drawn } from "../../../support/drawn.ts"
import { pglite, postgres, postgresUrl } from "../../../support/postgres/database.ts"

const start = 1_700_000_000_000
const budget = 120
const second = 1000

const hit = (key: string) =>
  Effect.gen(function*() {
    const limiter = yield* RateLimiter
    return yield* Effect.match(limiter.consume(key), {
      onSuccess: (state) => ({ admitted: true as const, ...state }),
      onFailure: (failure) => {
        if (!(failure instanceof RateLimited)) throw failure
        return { admitted: false as const, wait: failure.retry_after, message: failure.message }
      }
    })
  })

const hits = (key: string, count: number) => Effect.forEach(Array.from({ length: count }), () => hit(key))

const admitted = (answers: ReadonlyArray<{ readonly admitted: boolean }>) =>
  answers.filter(({ admitted }) => admitted).length

/** What the rule says, said as simply as it can be: the answer to each arrival. */
const model = (arrivals: ReadonlyArray<number>) => {
  const log: Array<number> = []
  return arrivals.map((now) => {
    const live = log.filter((hit) => hit > now - 60 * second)
    if (live.length < budget) log.push(now)
    return live.length < budget
  })
}

/** Bursts and pauses: how long after the one before, and how many at once. */
const Arrivals = Schema.Array(
  Schema.Tuple([
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 25_000 })),
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))
  ])
).check(Schema.isMinLength(4), Schema.isMaxLength(14))

const suite = (name: string, limiter: Layer.Layer<RateLimiter, unknown>, runs: number) => {
  describe(name, () => {
    layer(Layer.orDie(limiter))((it) => {
      it.effect("S8-01: admits the 120th request, and refuses the 121st within 60 seconds of the first", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const key = crypto.randomUUID()
          expect(admitted(yield* hits(key, budget))).toBe(budget)
          expect((yield* hit(key)).admitted).toBe(false)
          yield* TestClock.adjust(60 * second - 1)
          expect((yield* hit(key)).admitted).toBe(false)
          yield* TestClock.adjust(1)
          expect(admitted(yield* hits(key, budget + 1))).toBe(budget)
        }))

      it.effect("S8-01: has no minute that begins anew: a burst at the end of one leaves nothing for the next", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start - start % (60 * second) + 59 * second)
          const key = crypto.randomUUID()
          expect(admitted(yield* hits(key, 119))).toBe(119)
          yield* TestClock.adjust(2 * second)
          expect(admitted(yield* hits(key, 119))).toBe(1)
        }))

      it.effect.prop(
        "S8-01: admits exactly 120 in any 60 seconds, whenever requests arrive, and does not count the refused",
        [Arrivals],
        ([bursts]) =>
          Effect.gen(function*() {
            const key = crypto.randomUUID()
            yield* TestClock.setTime(start)
            const arrivals: Array<number> = []
            const answers: Array<boolean> = []
            for (const [pause, count] of bursts) {
              yield* TestClock.adjust(pause)
              const now = yield* Clock.currentTimeMillis
              for (const answer of yield* hits(key, count)) {
                arrivals.push(now)
                answers.push(answer.admitted)
              }
            }
            expect(answers).toEqual(model(arrivals))
            const passed = arrivals.filter((_, index) => answers[index])
            for (const from of passed) {
              expect(passed.filter((at) => at >= from && at < from + 60 * second).length).toBeLessThanOrEqual(budget)
            }
          }),
        drawn(runs)
      )

      it.effect("S8-03: keeps a budget of its own for each credential", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const [one, other] = [crypto.randomUUID(), crypto.randomUUID()]
          expect(admitted(yield* hits(one, budget + 5))).toBe(budget)
          expect(admitted(yield* hits(other, budget + 5))).toBe(budget)
        }))

      it.effect("S8-05: reports what is left, and the whole seconds until the oldest request leaves the window", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const key = crypto.randomUUID()
          expect(yield* hit(key)).toEqual({ admitted: true, limit: 120, remaining: 119, reset: 60 })
          yield* TestClock.adjust(1)
          expect(yield* hit(key)).toEqual({ admitted: true, limit: 120, remaining: 118, reset: 60 })
          yield* TestClock.adjust(20 * second)
          expect(yield* hit(key)).toEqual({ admitted: true, limit: 120, remaining: 117, reset: 40 })
          yield* TestClock.adjust(40 * second - 1)
          expect(yield* hit(key)).toEqual({ admitted: true, limit: 120, remaining: 117, reset: 1 })
        }))

      it.effect.prop(
        "S7-09, S8-04: says in its message how long to wait, and a request after that wait passes, no second earlier",
        [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 59_999 }))],
        ([elapsed]) =>
          Effect.gen(function*() {
            const key = crypto.randomUUID()
            yield* TestClock.setTime(start)
            yield* hits(key, budget)
            yield* TestClock.adjust(elapsed)
            const refused = yield* hit(key)
            if (refused.admitted) return expect.unreachable()
            expect(refused.wait).toBe(Math.ceil((60 * second - elapsed) / second))
            expect(refused.message.match(/\d+/g)).toEqual(["120", String(refused.wait)])
            yield* TestClock.adjust((refused.wait - 1) * second)
            expect((yield* hit(key)).admitted).toBe((refused.wait - 1) * second + elapsed >= 60 * second)
            yield* TestClock.adjust(second)
            expect((yield* hit(key)).admitted).toBe(true)
          }),
        drawn(Math.min(runs, 20))
      )

      it.effect("admits exactly 120 of many requests at once", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const key = crypto.randomUUID()
          const answers = yield* Effect.forEach(Array.from({ length: 300 }), () => hit(key), { concurrency: 50 })
          expect(admitted(answers)).toBe(budget)
        }))
    })
  })
}

describe("the rate limiter", () => {
  suite("in memory", Memory.layer, 200)
  layer(Memory.layer)("in memory, under many credentials", (it) => {
    it.effect("remembers every budget that is in use, however many there are", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        yield* hits("spent", budget)
        yield* TestClock.adjust(30 * second)
        for (let other = 0; other < 12_000; other++) yield* hit(`other ${other}`)
        expect((yield* hit("spent")).admitted).toBe(false)
        expect(yield* hit("other 0")).toMatchObject({ remaining: 118 })
        yield* TestClock.adjust(31 * second)
        expect(yield* hit("spent")).toMatchObject({ remaining: 119 })
        expect(yield* hit("other 0")).toMatchObject({ remaining: 117 })
      }))
  })
  suite("in SQL on PGlite", Sql.layer.pipe(Layer.provide(pglite)), 25)
  suite("in SQL on PostgreSQL", Sql.layer.pipe(Layer.provide(postgres)), 25)

  describe("in SQL, shared by processes", () => {
    layer(Layer.empty, { excludeTestServices: true })((it) => {
      it.effect("admits exactly 120 of 500 requests that two pools make at once", () =>
        Effect.gen(function*() {
          const url = Redacted.make(yield* postgresUrl)
          const pool = Effect.map(
            Layer.build(Sql.layer.pipe(Layer.provide(Postgres.layer({ url, maxConnections: 10 })))),
            (context) => Context.get(context, RateLimiter)
          )
          const limiters = [yield* pool, yield* pool]
          const answers = yield* Effect.forEach(
            Array.from({ length: 500 }),
            (_, index) => Effect.provideService(hit("shared"), RateLimiter, limiters[index % 2]!),
            { concurrency: "unbounded" }
          )
          expect(answers).toHaveLength(500)
          expect(admitted(answers)).toBe(budget)
          const left = answers.flatMap((answer) => answer.admitted ? [answer.remaining] : [])
          expect(left.toSorted((one, other) => one - other)).toEqual(
            Array.from({ length: budget }, (_, index) => index)
          )
        }))
    })

    layer(Sql.layer.pipe(Layer.provideMerge(pglite)))((it) => {
      it.effect("takes the oldest request for the oldest, though replicas write theirs down in another order", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start + 10 * second)
          yield* hit("replicas")
          yield* TestClock.setTime(start)
          yield* hit("replicas")
          yield* TestClock.adjust(second)
          expect(yield* hit("replicas")).toMatchObject({ remaining: 117, reset: 59 })
        }))

      it.effect("forgets a credential that was not used for an hour, and no other", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* TestClock.setTime(start)
          yield* hit("old")
          yield* TestClock.adjust(1)
          yield* hit("newer")
          yield* TestClock.adjust(60 * 60 * second)
          yield* Sql.sweep
          expect(yield* sql`select key from rate_limit where key in ('old', 'newer') order by key`).toEqual([{
            key: "newer"
          }])
        }))
    })
  })
})
