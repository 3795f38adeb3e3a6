/** The metrics of a running service, at an address of their own, in the text format of Prometheus. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Clock, Duration, Effect, Metric, Schedule } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { NetAddress } from "effect/net"
import { PrometheusMetrics } from "effect/observability"
import * as http from "node:http"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { answerStallTime } from "../../domain/Limits.ts"
import * as Gauge from "../../layers/Gauge.ts"
import * as DatabaseFacts from "../../layers/postgres/DatabaseFacts.ts"
import { unsignedJournals } from "../../layers/sql/journal/Unsigned.ts"
import * as Polls from "../../layers/sql/protection/Polls.ts"

/** The interval at which what costs a statement or a statistic is measured. */
const period = Duration.seconds(15)

/** The interval at which all accounts are counted. */
const watchPeriod = Duration.minutes(1)

const nanos = 1e9
const micros = 1e6

/** The resources that the process takes, under the names that Prometheus's clients give them. */
const ownUse = Effect.gen(function*() {
  const cpu = Metric.counter("process_cpu_seconds_total", { description: "Processor time taken, in seconds" })
  yield* Gauge.showState(cpu, () => {
    const { system, user } = process.cpuUsage()
    return { count: (system + user) / micros, incremental: true }
  })
  const started = performance.timeOrigin / 1000
  yield* Gauge.show("process_start_time_seconds", "When the process started, in seconds since 1970", () => started)
  yield* Gauge.show("process_resident_memory_bytes", "Memory of the process", () => process.memoryUsage.rss())
  yield* Gauge.show("nodejs_heap_size_used_bytes", "Memory that JavaScript uses", () => process.memoryUsage().heapUsed)
  yield* Gauge.show(
    "nodejs_external_memory_bytes",
    "Memory that Node holds beside it",
    () => process.memoryUsage().external
  )
})

/** The delay of the event loop over the last period: the mean, the 99th percentile and the worst. */
const eventLoop = Effect.gen(function*() {
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => monitorEventLoopDelay({ resolution: 20 })),
    (delay) => Effect.sync(() => delay.disable())
  )
  delay.enable()
  let seen = { mean: 0, p99: 0, max: 0 }
  const says = "Lateness of the event loop over the last 15 seconds"
  yield* Gauge.show("nodejs_eventloop_lag_mean_seconds", `${says}: the mean`, () => seen.mean)
  yield* Gauge.show("nodejs_eventloop_lag_p99_seconds", `${says}: the 99th percentile`, () => seen.p99)
  yield* Gauge.show("nodejs_eventloop_lag_max_seconds", `${says}: the worst`, () => seen.max)
  // @effect-diagnostics-next-line returnEffectInGen:off -- what looks is what is made
  return Effect.sync(() => {
    if (delay.count > 0) {
      seen = { mean: delay.mean / nanos, p99: delay.percentile(99) / nanos, max: delay.max / nanos }
    }
    delay.reset()
  })
})

/** The intents that the journal has begun and not closed, in the whole database. */
const journalLag = Effect.gen(function*() {
  let lag = { open: 0, oldest: 0 }
  yield* Gauge.show(
    "console_journal_open_intents",
    "Changes on the messenger that the journal has begun and not closed, of all organizations and replicas",
    () => lag.open
  )
  yield* Gauge.show("console_journal_oldest_intent_seconds", "Age of the oldest of them", () => lag.oldest)
  // @effect-diagnostics-next-line returnEffectInGen:off -- what looks is what is made
  return Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const { begun, open } = yield* DatabaseFacts.openIntents
    lag = { open, oldest: begun === null ? 0 : Math.max(0, now - begun.getTime()) / 1000 }
  }).pipe(Effect.ignore)
})

/** Journals of which the owner of the database could have changed what should have been signed. */
const signing = Effect.gen(function*() {
  let journals = 0
  yield* Gauge.show(
    "console_journal_unsigned",
    "Journals with an event older than two minutes that no checkpoint covers",
    () => journals
  )
  // @effect-diagnostics-next-line returnEffectInGen:off -- what looks is what is made
  return Effect.map(unsignedJournals, ({ length }) => {
    journals = length
  })
})

/** True if any process polls the accounts. */
const lastPoll = Effect.gen(function*() {
  let seconds = 0
  yield* Gauge.show(
    "console_last_look_age_seconds",
    "How long no process has polled any account, although one was due",
    () => seconds
  )
  // @effect-diagnostics-next-line returnEffectInGen:off -- what looks is what is made
  return Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const since = yield* Polls.waitingSince
    seconds = since === null ? 0 : Math.max(0, now - since.getTime()) / 1000
  }).pipe(Effect.ignore)
})

/** The state of the watch over the accounts, in the whole database. */
const watch = Effect.gen(function*() {
  let seen = { accounts: new Map<string, number>(), due: 0, overdue: 0 }
  for (const state of DatabaseFacts.watchStates) {
    yield* Gauge.show(
      "console_monitor_accounts",
      "Accounts by how the watch over them goes",
      () => seen.accounts.get(state) ?? 0,
      { state }
    )
  }
  yield* Gauge.show("console_monitor_due", "Accounts whose look is due and has not ended", () => seen.due)
  yield* Gauge.show(
    "console_reviews_overdue",
    "Accounts of which a session should have been signed out for more than two minutes",
    () => seen.overdue
  )
  // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
  return Effect.map(DatabaseFacts.watched, ({ due, overdue, states }) => {
    seen = { accounts: new Map(states.map(({ accounts, state }) => [state, accounts])), due, overdue }
  }).pipe(Effect.ignore)
})

const contentType = "text/plain; version=0.0.4; charset=utf-8"

const respond = Effect.gen(function*() {
  const { method, url } = yield* HttpServerRequest.HttpServerRequest
  return method === "GET" && url.split("?", 1)[0] === "/metrics"
    ? HttpServerResponse.text(yield* PrometheusMetrics.format(), { contentType })
    : HttpServerResponse.text("The metrics are at /metrics.\n", { status: 404 })
})

/** The facts of the running service that are known from its start on. */
export interface Build {
  readonly version: string
  readonly database: "embedded" | "postgresql"
}

/** Measures the remaining metrics for as long as the scope is open. */
export const measure = Effect.fnUntraced(function*({ database, version }: Build) {
  yield* Gauge.show("console_build_info", "1, with what runs as labels", () => 1, {
    version,
    node: process.versions.node,
    database
  })
  yield* ownUse
  const looks = [yield* eventLoop, yield* journalLag, yield* lastPoll]
  yield* Effect.forkScoped(Effect.repeat(Effect.all(looks), Schedule.spaced(period)))
  const counts = [yield* watch, yield* signing]
  yield* Effect.forkScoped(Effect.repeat(Effect.all(counts), Schedule.spaced(watchPeriod)))
})

/** Serves `/metrics` on an address of its own, and answers where. */
export const serve = Effect.fnUntraced(function*(listen: { readonly host: string; readonly port: number }) {
  const metrics = http.createServer().setTimeout(Duration.toMillis(answerStallTime))
  const server = yield* NodeHttpServer.make(() => metrics, { ...listen, gracefulShutdownTimeout: 0 })
  yield* server.serve(respond)
  return NetAddress.formatUrlUnsafe(server.address)
})
