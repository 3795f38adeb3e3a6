import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { valueIn as value } from "../support/metrics.ts"
import { pglite } from "../support/postgres/database.ts"
import { arrange, makeWatched, start } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

describe("12 what operators see of the watch", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("counts looks, sign-outs, takeovers and waits", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const { platform, stranger, userId } = organization
        const left = yield* makeWatched(organization)
        const used = yield* makeWatched(organization)
        const before = yield* PrometheusMetrics.format()
        yield* jump("1 minute")
        yield* stranger
        yield* left.stranger
        yield* jump("72 seconds")
        yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
        yield* platform.script({
          answer: { _tag: "Busy", seconds: 60 },
          operation: "authorizations",
          userId: left.userId
        })
        yield* platform.revokeService(used.userId, "key_duplicated")
        yield* jump("72 seconds")
        yield* jump("2 minutes")
        yield* jump("13 hours")
        const text = yield* PrometheusMetrics.format()
        const rose = (series: string) => (value(text, series) ?? 0) - (value(before, series) ?? 0)
        const rises = [
          `console_sign_outs_total{reason="hijacked",outcome="done"}`,
          `console_sign_outs_total{reason="autokill",outcome="done"}`,
          `console_takeovers_total{stopped="false"}`,
          `console_takeovers_total{stopped="true"}`,
          "console_flood_waits_total",
          "console_key_duplicated_total",
          "console_live_sessions_opened_total"
        ]
        assert.deepStrictEqual(rises.map(rose), [2, 1, 1, 1, 1, 1, 3])
        assert.isAbove(rose(`console_monitor_polls_total{outcome="written"}`), 6)
        assert.strictEqual(value(text, "console_live_sessions"), 2)
        const shown = (quantile: string) => value(text, `console_monitor_lateness_seconds{quantile="${quantile}"}`)
        assert.isAtLeast(shown("1") ?? 0, shown("0.99") ?? 1)
        for (const phase of ["look", "record", "act", "close"]) {
          assert.isAbove(rose(`console_monitor_step_seconds_count{phase="${phase}"}`), 0)
        }
      }))

    it.effect("says how many accounts are due and overdue, of those that somebody could do something about", () =>
      Effect.gen(function*() {
        const { account, id } = yield* arrange()
        yield* jump("1 minute")
        const late = new Date(start - 3_600_000)
        yield* World.set(id, "monitor", account, { due_at: late, next_at: late })
        const { due, overdue, states } = yield* DatabaseFacts.watched
        assert.deepStrictEqual([due, overdue], [1, 1])
        assert.strictEqual(states.find(({ state }) => state === "watched")?.accounts, 1)
        yield* World.set(id, "monitor", account, { flood_until: new Date(start + 3_600_000) })
        assert.deepInclude(yield* DatabaseFacts.watched, { due: 0, overdue: 0 })
      }))
  })
})
