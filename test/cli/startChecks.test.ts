import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Redacted } from "effect"
import * as StartChecks from "../../src/cli/settings/StartChecks.ts"
import * as UnknownVariables from "../../src/cli/settings/UnknownVariables.ts"
import * as Postgres from "../../src/layers/postgres/Postgres.ts"

const settings: StartChecks.CheckedSettings = {
  demo: false,
  messenger: "none",
  host: "127.0.0.1",
  baseUrl: Option.none<string>(),
  sites: Option.none<string>(),
  trustedProxies: Option.none<string>()
}

const warnings = (checked: typeof settings) => {
  const said: Array<string> = []
  const keep = Logger.make(({ message }) => void said.push(String(message)))
  return Effect.as(
    StartChecks.warn(checked, "http://127.0.0.1:8080").pipe(Effect.provide(Layer.fresh(Logger.layer([keep])))),
    said
  )
}

describe("what serve looks at before it opens anything", () => {
  it.effect("refuses addresses over http but this machine's own, and a demo that others could reach", () =>
    Effect.gen(function*() {
      const refusal = (changes: Partial<typeof settings>) =>
        StartChecks.refuse({ ...settings, ...changes }).pipe(
          Effect.match({ onSuccess: () => null, onFailure: ({ message }) => message })
        )
      const at = (baseUrl: string) => ({ baseUrl: Option.some(baseUrl) })
      for (const own of ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:8080", "https://console.example"]) {
        expect(yield* refusal(at(own))).toBe(null)
      }
      for (const foreign of ["http://console.example", "http://127.0.0.1.example", "http://10.0.0.7:8080"]) {
        expect(yield* refusal(at(foreign))).toMatch(/^--base-url is an https address, not http:/)
      }
      expect(yield* refusal({ sites: Option.some("a=https://a.example, b=http://b.example") })).toMatch(
        /^--sites is an https address, not http:\/\/b\.example:/
      )
      expect(yield* refusal({ demo: true })).toBe(null)
      expect(yield* refusal({ demo: true, ...at("http://localhost:8080") })).toBe(null)
      expect(yield* refusal({ demo: true, ...at("https://console.example") })).toMatch(/^--demo is for this machine/)
      for (const host of ["0.0.0.0", "::", "10.0.0.7", "127.example"]) {
        expect(yield* refusal({ demo: true, host })).toMatch(/^--demo listens on loopback alone/)
      }
    }))

  it.effect("warns where clients come by another address than the one listened on, and no proxy is trusted", () =>
    Effect.gen(function*() {
      const proxied = { ...settings, baseUrl: Option.some("https://console.example") }
      expect(yield* warnings(settings)).toEqual([])
      expect(yield* warnings({ ...settings, baseUrl: Option.some("http://127.0.0.1:8080") })).toEqual([])
      expect(yield* warnings({ ...proxied, trustedProxies: Option.some("10.0.0.0/8") })).toEqual([])
      const [warning, ...more] = yield* warnings(proxied)
      expect(more).toEqual([])
      expect(warning).toMatch(/^Clients come by https:\/\/console\.example, .* without --trusted-proxies/)
    }))

  it("names variables that no setting has, with the nearest known one", () => {
    const known = ["CONSOLE_PORT", "CONSOLE_BASE_URL", "CONSOLE_PEPPERS", "CONSOLE_PEPPERS_FILE"]
    const names = [
      "CONSOLE_PROT",
      "CONSOLE_BASEURL",
      "CONSOLE_PEPPERS",
      "CONSOLE_PEPPER_FILE",
      "CONSOLE_SOMETHING",
      "PORT"
    ]
    expect(UnknownVariables.unknownAmong(names, known)).toEqual([
      { name: "CONSOLE_PROT", nearest: "CONSOLE_PORT" },
      { name: "CONSOLE_BASEURL", nearest: "CONSOLE_BASE_URL" },
      { name: "CONSOLE_PEPPER_FILE", nearest: "CONSOLE_PEPPERS_FILE" },
      { name: "CONSOLE_SOMETHING", nearest: null }
    ])
    expect(UnknownVariables.advice("CONSOLE_PROT", "CONSOLE_PORT")).toMatch(/is it CONSOLE_PORT\?$/)
    expect(UnknownVariables.advice("CONSOLE_SOMETHING", null)).toMatch(/`npm run cli -- settings` prints/)
  })

  it("takes a PostgreSQL on another machine for insecure unless TLS is demanded", () => {
    const insecure = (url: string) => Postgres.isInsecure(Redacted.make(url))
    for (
      const safe of [
        "postgres://u:p@localhost/d",
        "postgres://u:p@127.0.0.1:5432/d",
        "postgres://u:p@[::1]/d",
        "postgres:///d?host=/var/run/postgresql",
        "postgres://u:p@db.example/d?sslmode=require",
        "postgres://u:p@db.example/d?sslmode=verify-full"
      ]
    ) expect([safe, insecure(safe)]).toEqual([safe, false])
    for (
      const unsafe of [
        "postgres://u:p@db.example/d",
        "postgres://u:p@10.0.0.7/d",
        "postgres://u:p@db.example/d?sslmode=disable",
        "postgres://u:p@db.example/d?sslmode=prefer",
        "postgres://u:p@db.example/d?sslmode=require&sslmode=disable",
        "postgres://u:p@localhost/d?host=db.example",
        "postgres://u:p@127.0.0.1.example/d"
      ]
    ) expect([unsafe, insecure(unsafe)]).toEqual([unsafe, true])
  })
})
