import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, type Redacted } from "effect"
import * as fs from "node:fs"
import * as Telemetry from "../../src/cli/process/Telemetry.ts"
import { attributesOf, collect, spansIn } from "../support/cli/collector.ts"
import { ask, dataDirectory, serve, shownKeys, until } from "../support/cli/commandLine.ts"
import { runInProcess } from "../support/cli/inProcess.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const parentId = "b7ad6b7169203331"

describe("what an operator sees of a running service", () => {
  it("is a log in JSON, metrics at an address of their own, and traces at a collector, without a secret", async () => {
    const { received, url } = await collect()
    const service = await serve(
      ["--demo", "--data", dataDirectory(), "--log-format", "json", "--metrics-address", "127.0.0.1:0"],
      { CONSOLE_OTLP_URL: url, CONSOLE_OTLP_HEADERS: "x-collector=a%20key" }
    )
    const [key = ""] = await shownKeys(service)
    const accounts = await fetch(new URL("/v1/accounts?limit=1&hidden=in-the-query", service.address), {
      headers: { authorization: `Bearer ${key}`, traceparent: `00-${traceId}-${parentId}-01` }
    })
    expect(accounts.status).toBe(400)
    expect((await ask(service.address, key, "GET", "/v1/organization")).status).toBe(200)
    await fetch(new URL("/readyz", service.address))

    const metricsUrl = /Metrics at (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(service.stderr())?.[1] ?? ""
    // The jobs count for the first time after the start.
    const counted = ["console_journal_open_intents", "console_reviews_overdue", "console_monitor_due"]
    await until(async () => {
      const shown = await (await fetch(metricsUrl)).text()
      return counted.every((name) => shown.includes(`\n${name} `))
    })
    const metrics = await fetch(metricsUrl)
    expect(metrics.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
    const text = await metrics.text()
    expect(text).toContain(`console_requests_total{operation="get_organization",via="rest",code="200"} 1\n`)
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m)
    expect(text).toMatch(/^console_build_info\{version="[^"]+",node="[^"]+",database="embedded"\} 1$/m)
    expect(text).toContain("console_journal_open_intents 0\n")
    expect(text).toContain("console_reviews_overdue 0\n")
    for (
      const name of ["console_monitor_due", "console_monitor_accounts{state=\"watched\"}"]
    ) {
      expect(text).toContain(`\n${name} `)
    }
    const documented = fs.readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8")
    const shown = [...text.matchAll(/^# TYPE (console_\w+)/gm)].map(([, name]) => name)
    expect(shown.filter((name) => !documented.includes(`| \`${name}\` |`))).toEqual([])
    expect((await fetch(new URL("/", metricsUrl))).status).toBe(404)
    expect((await fetch(new URL("/metrics", service.address))).status).toBe(404)

    expect(await service.stop()).toBe(0)
    const lines = service.stderr().trim().split("\n").map((line) => JSON.parse(line))
    const requestLines = lines.filter(({ message }) => message === "Request answered")
    expect(requestLines.map(({ operation, route, status }) => [operation, route, status])).toEqual([
      ["list_protected_accounts", "/v1/accounts", 400],
      ["get_organization", "/v1/organization", 200],
      [null, "other", 404]
    ])
    expect(requestLines[1]).toMatchObject({ level: "INFO", organization_id: "demo", client_ip: "127.0.0.1" })
    expect(requestLines[1].duration_ms).toBeGreaterThan(0)

    const spans = spansIn(received)
    const asked = spans.find(({ name }) => name === "list_protected_accounts")
    expect(asked).toMatchObject({ traceId, parentSpanId: parentId, kind: 2 })
    expect(attributesOf(asked)).toMatchObject({
      "http.request.method": "GET",
      "http.route": "/v1/accounts",
      "error.type": "parameter_invalid",
      "console.organization_id": "demo"
    })
    const within = spans.filter((span) => span.traceId === traceId)
    expect(within.filter((span) => attributesOf(span)["db.system.name"] === "postgresql").length).toBe(1)
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)
    expect(roots).toEqual(["get_organization"])
    expect(received.every(({ headers }) => headers["x-collector"] === "a key")).toBe(true)
    expect(received.some(({ path }) => path === "/v1/metrics")).toBe(true)
    const everything = JSON.stringify([received.map(({ body }) => body), lines, text])
    for (const secret of [key, "in-the-query", "a key"]) expect(everything).not.toContain(secret)
  }, 120_000)

  it("says in one line that a secret is set twice, or that its file cannot be read", async () => {
    const twice = await runInProcess(["journal", "verify"], {
      env: {
        CONSOLE_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
        CONSOLE_PEPPERS: "one",
        CONSOLE_PEPPERS_FILE: "/dev/null"
      }
    })
    expect([twice.status, twice.stderr]).toEqual([
      1,
      "CONSOLE_PEPPERS and CONSOLE_PEPPERS_FILE are both set: set one of them.\n"
    ])
    const missing = await runInProcess(["journal", "verify"], { env: { CONSOLE_DATABASE_URL_FILE: "/nowhere/url" } })
    expect([missing.status, missing.stderr.trimEnd().split("\n")]).toEqual([
      2,
      [expect.stringContaining("CONSOLE_DATABASE_URL_FILE names a file that cannot be read: /nowhere/url;")]
    ])
  }, 60_000)
})

describe("a collector that does not answer", () => {
  /** Makes spans of requests one after another, and answers whether each was recorded. */
  const spans = (count: number) =>
    Effect.forEach(Array.from({ length: count }), (_, index) =>
      Effect.andThen(
        index % 100 === 0 ? Effect.yieldNow : Effect.void,
        Effect.useSpan("request", { kind: "server" }, ({ sampled }) => Effect.succeed(sampled))
      ))

  const layer = (url: string, traceRatio: number) =>
    Telemetry.layer({ otlpUrl: Option.some(url), traceRatio }, Option.none<Redacted.Redacted>(), "0.0.0")

  it("is not waited for, and spans do not pile up", async () => {
    const { received, url } = await collect({ answers: false })
    const recorded = await Effect.runPromise(
      Effect.scoped(Effect.provide(
        Effect.gen(function*() {
          const first = yield* spans(10_000)
          yield* Effect.promise(() => until(() => received.length > 0))
          return [...first, ...yield* spans(1000)]
        }),
        layer(url, 1)
      ))
    )
    expect(recorded[0]).toBe(true)
    expect(recorded.slice(-1000)).toEqual(Array.from({ length: 1000 }, () => false))
    expect(recorded.filter((sampled) => sampled).length).toBeLessThan(6000)
  }, 60_000)

  it("gets no spans at a ratio of 0, and none of what the service does by itself", async () => {
    const { received, url } = await collect()
    await Effect.runPromise(
      Effect.scoped(Effect.provide(
        Effect.gen(function*() {
          yield* spans(10)
        }),
        layer(url, 0)
      ))
    )
    await Effect.runPromise(
      Effect.scoped(Effect.provide(Effect.withSpan(Effect.void, "sweep"), layer(url, 1)))
    )
    expect(spansIn(received)).toEqual([])
  }, 60_000)
})
