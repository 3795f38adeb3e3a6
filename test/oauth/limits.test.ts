import { describe, expect, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { policy } from "../../src/cli/settings/Registration.ts"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { register } from "../../src/oauth/registration/Register.ts"
import { Registration } from "../../src/ports/oauth/OAuthPorts.ts"
import { Readiness } from "../../src/transport/TransportSettings.ts"
import { postgres } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"
import { callback, formHeaders, issuer, refused } from "./support.ts"

/** Asks as a peer with this address would. */
const from = Effect.fnUntraced(
  function*(peer: string, method: string, path: string, body?: string, type = formHeaders["content-type"]) {
    const handler = yield* World.peersHandlerHere
    const host = new URL(World.baseUrl).host
    const response = yield* Effect.promise(() =>
      handler(
        new Request(`${World.baseUrl}${path}`, {
          method,
          headers: { host, "x-peer": peer, ...(body === undefined ? {} : { "content-type": type }) },
          ...(body === undefined ? {} : { body })
        })
      )
    )
    return { status: response.status, headers: response.headers, text: yield* Effect.promise(() => response.text()) }
  }
)

const outcome = (address: string, at: { readonly baseUrl: string } = issuer) =>
  Effect.match(register({ ...issuer, ...at }, { redirect_uris: [callback] }, address), {
    onSuccess: () => 201,
    onFailure: (error) => error._tag === "rate_limited" ? error.retry_after : error
  })

const day = (count: number) => TestClock.setTime(Duration.toMillis(Duration.days(count)))

const application = { redirect_uris: [callback], token_endpoint_auth_method: "none" }

describe("the endpoints for applications", () => {
  layer(World.world(postgres))((it) => {
    it.effect("take 600 requests at once from an address, then 429 in their own words, and ask the database nothing", () =>
      Effect.gen(function*() {
        yield* day(30_000)
        const paths = ["/oauth/token", "/oauth/revoke", "/oauth/register"]
        const garbage = "client_id=x"
        for (let at = 0; at < 600; at++) {
          const answer = yield* from(`2001:db8::${at.toString(16)}`, "POST", paths[at % 3] ?? "", garbage)
          expect([400, 401]).toContain(answer.status)
        }
        for (const path of paths) {
          const { answer, said } = yield* recording(from("2001:db8::1", "POST", path, garbage))
          expect([answer.status, answer.headers.get("retry-after"), JSON.parse(answer.text), said]).toEqual([
            429,
            "1",
            {
              error: "rate_limited",
              error_description: "Too many requests from this address: try again in 1 seconds."
            },
            []
          ])
        }
        const page = yield* from("2001:db8::1", "GET", "/console/sign-in")
        expect([page.status, page.headers.get("retry-after")]).toEqual([429, "1"])
        expect((yield* from("2001:db8::1", "GET", "/.well-known/oauth-authorization-server")).status).toBe(200)
        expect((yield* from("2001:db8:0:1::1", "POST", "/oauth/token", garbage)).status).toBe(400)
      }))

    it.effect("count an address while the service is not ready too, so that waiting for it takes no more", () =>
      Effect.gen(function*() {
        yield* day(30_001)
        const unready = Effect.fail(new ServiceUnavailable({}))
        for (const path of ["/oauth/token", "/console/sign-in"]) {
          const method = path.startsWith("/oauth") ? "POST" : "GET"
          const statuses: Array<number> = []
          for (let at = 0; at <= 600; at++) {
            const asked = from("192.0.2.7", method, path, method === "POST" ? "client_id=x" : undefined)
            statuses.push((yield* Effect.provideService(asked, Readiness, unready)).status)
          }
          expect([path, new Set(statuses.slice(0, 600)), statuses[600]]).toEqual([path, new Set([503]), 429])
          yield* TestClock.adjust("2 minutes")
        }
      }))

    it.effect("let register who brings the initial access token, where that is the setting, and nobody without", () =>
      Effect.gen(function*() {
        const secret = "0123456789abcdef0123456789abcdef"
        const env = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { CONSOLE_REGISTRATION_TOKEN: secret } }))
        const registration = yield* Effect.provide(policy("token"), env)
        const ask = (headers: Record<string, string>) =>
          World.send("POST", "/oauth/register", { body: application, headers }).pipe(
            Effect.provideService(Registration, registration)
          )
        const headers: ReadonlyArray<Record<string, string>> = [
          {},
          { authorization: "Bearer" },
          { authorization: `Bearer ${secret}0` },
          { authorization: `Bearer ${secret.slice(1)}` },
          { authorization: `Basic ${secret}` }
        ]
        for (const wrong of headers) {
          const { answer, said } = yield* recording(ask(wrong))
          expect([wrong, ...refused(answer), answer.headers.get("www-authenticate"), said]).toEqual([
            wrong,
            401,
            "invalid_token",
            "Bearer realm=\"registration\"",
            []
          ])
        }
        expect((yield* ask({ authorization: `Bearer ${secret}` })).status).toBe(201)
        for (const env of [{}, { CONSOLE_REGISTRATION_TOKEN: "short" }]) {
          const refusal = yield* Effect.flip(
            Effect.provide(policy("token"), ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
          )
          expect(String(refusal)).toContain("CONSOLE_REGISTRATION_TOKEN, of at least 32 characters")
        }
      }))

    it.effect("have no registration, and name none, where it is off", () =>
      Effect.gen(function*() {
        const off = Effect.provideService(Registration, yield* policy("off"))
        const path = "/.well-known/oauth-authorization-server"
        const answer = yield* off(World.send("POST", "/oauth/register", { body: application }))
        expect(World.refusal(answer)).toEqual([404, "resource_missing"])
        expect((yield* off(World.send("GET", path))).body).not.toHaveProperty("registration_endpoint")
        expect((yield* World.send("GET", path)).body.registration_endpoint).toBe(`${World.baseUrl}/oauth/register`)
      }))
  })

  layer(World.world(postgres))((it) => {
    it.effect("refuse registrations over a limit from memory, and of many at once the database sees no more than it keeps", () =>
      Effect.gen(function*() {
        yield* day(31_000)
        const burst = Array.from({ length: 200 }, (_, at) => `2001:db8::${at.toString(16)}`)
        const { answer, said } = yield* recording(Effect.forEach(burst, (each) => outcome(each), { concurrency: 50 }))
        expect(answer.filter((status) => status === 201).length).toBe(20)
        expect(said.filter(({ sql }) => sql.startsWith("insert into oauth_client")).length).toBe(20)
        expect(said.filter(({ sql }) => sql.includes("advisory")).length).toBe(21)
        yield* TestClock.adjust("3599 seconds")
        expect((yield* recording(outcome("2001:db8::1"))).said).toEqual([])
        yield* TestClock.adjust("1 second")
        expect(yield* outcome("2001:db8::1")).toBe(201)
      }))

    it.effect("count what one address may register by itself, and the total for each site by itself", () =>
      Effect.gen(function*() {
        yield* day(32_000)
        for (let at = 0; at < 500; at++) expect(yield* outcome(`2001:db8:0:${(at % 25).toString(16)}::1`)).toBe(201)
        expect(yield* outcome("2001:db8:1::1")).toBe(3600)
        expect((yield* recording(outcome("2001:db8:1::2"))).said).toEqual([])
        expect(yield* outcome("2001:db8:1::1", { baseUrl: "https://other.example" })).toBe(201)
      }))
  })
})
