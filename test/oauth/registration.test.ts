import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { forgetOAuth } from "../../src/jobs/oauth/forget_oauth.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import { register } from "../../src/oauth/registration/Register.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { callback, challengeOf, issuer, query, refused, registerApplication, registration, stage } from "./support.ts"

const withUris = (redirect_uris: unknown) => registration({ redirect_uris })

/** The registrations as they are stored. */
const stored = SqlClient.SqlClient.use((sql) =>
  Tenant.directory(sql)(sql<{ id: string; secret_digest: string | null; address: string | null; row: string }>`
    select id, secret_digest, address, to_jsonb(oauth_client)::text as row from oauth_client`)
)

const invalid = [400, "invalid_redirect_uri"]
const invalidMetadata = [400, "invalid_client_metadata"]

describe("OAuth registration", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 9, S5.2-04: https anywhere and http on this machine may be registered", () =>
        Effect.gen(function*() {
          const uris = [
            "https://any/cb",
            "https://localhost:8443/cb",
            "http://localhost:3334/x",
            "http://127.0.0.1:33418",
            "https://app.example/cb?fixed=1&x=%20",
            "https://APP.example/Path"
          ]
          for (const uri of uris) expect([uri, (yield* withUris([uri])).status]).toEqual([uri, 201])
          const { body } = yield* withUris(uris)
          expect(body.redirect_uris).toEqual(uris)
        }))

      it.effect("case 10, S5.2-05: no other host over http, however it is written", () =>
        Effect.gen(function*() {
          for (
            const uri of [
              "http://example.com",
              "http://[::1]/",
              "http://127.1/",
              "http://2130706433/",
              "http://0x7f.0.0.1/",
              "http://127.0.0.1.evil.com/",
              "http://localhost@evil.com/",
              "http://localhost:80@evil.com/",
              "http://localhost.evil.com/",
              "http://LOCALHOST/",
              "HTTP://localhost/",
              "https://127.1/",
              "https://[::1]/cb",
              "https:/example.com",
              "https:example.com",
              "https:///example.com",
              "https://ex\u0430mple.com/",
              "https://example.com:99999/",
              "https://-/"
            ]
          ) {
            expect([uri, ...refused(yield* withUris([uri]))]).toEqual([uri, ...invalid])
            expect([uri, ...refused(yield* withUris([callback, uri]))]).toEqual([uri, ...invalid])
          }
        }))

      it.effect("case 11, S5.2-05: no other scheme", () =>
        Effect.gen(function*() {
          for (
            const uri of [
              "com.example.app:/callback",
              "app://callback",
              "javascript:alert(1)",
              "data:text/html,x",
              "urn:ietf:wg:oauth:2.0:oob",
              "file:///etc/passwd",
              "ftp://example.com/",
              "//example.com/",
              "/callback",
              ""
            ]
          ) {
            expect([uri, ...refused(yield* withUris([uri]))]).toEqual([uri, ...invalid])
          }
        }))

      it.effect("case 12: no fragment, user, wildcard, backslash or space, no list that is empty, too long or none", () =>
        Effect.gen(function*() {
          const long = (length: number) => `https://app.example/${"a".repeat(length - "https://app.example/".length)}`
          for (
            const uris of [
              ["https://app.example/cb#"],
              ["https://app.example/cb#fragment"],
              ["https://user@app.example/"],
              ["https://user:pass@app.example/"],
              ["https://*.app.example/"],
              ["https://app.example/*"],
              ["https://app.example\\evil"],
              ["https://app.example/ cb"],
              [" https://app.example/cb"],
              ["https://app.example/cb\n"],
              ["https://app.example/\u0000"],
              [long(2049)],
              Array.from({ length: 11 }, (_, at) => `https://app.example/${at}`),
              [],
              "https://app.example/cb",
              { 0: "https://app.example/cb" },
              null,
              [null],
              [["https://app.example/cb"]]
            ]
          ) {
            expect([uris, ...refused(yield* withUris(uris))]).toEqual([uris, ...invalid])
          }
          expect((yield* withUris([long(2048)])).status).toBe(201)
          const ten = Array.from({ length: 10 }, (_, at) => `https://app.example/${at}`)
          expect((yield* withUris(ten)).status).toBe(201)
        }))

      it.effect("case 13, S5.2-03: without a method the application gets a secret, once, of which a digest is kept", () =>
        Effect.gen(function*() {
          const { body, headers, status } = yield* registration({ token_endpoint_auth_method: undefined })
          expect(status).toBe(201)
          expect(headers.get("cache-control")).toBe("no-store")
          expect(body).toEqual({
            client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            client_id_issued_at: 0,
            client_secret: expect.stringMatching(/^osc_ocs_[0-9A-Za-z]{49}$/),
            client_secret_expires_at: 0,
            client_name: "An app",
            redirect_uris: [callback],
            token_endpoint_auth_method: "client_secret_basic",
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"]
          })
          const row = (yield* stored).find(({ id }) => id === body.client_id)
          expect(row?.secret_digest).toMatch(/^[0-9a-f]{64}$/)
          expect(row?.row).not.toContain(body.client_secret)
          expect(row?.row).not.toContain(body.client_secret.slice(8, 51))
        }))

      it.effect("case 14: a public application gets no secret", () =>
        Effect.gen(function*() {
          const { body, status } = yield* registration({ token_endpoint_auth_method: "none" })
          expect([status, body.token_endpoint_auth_method]).toEqual([201, "none"])
          expect(body).not.toHaveProperty("client_secret")
          expect((yield* stored).find(({ id }) => id === body.client_id)?.secret_digest).toBeNull()
        }))

      it.effect("case 15: scope, application_type and members that nobody knows are accepted and ignored", () =>
        Effect.gen(function*() {
          const { body, status } = yield* registration({
            scope: "everything openid",
            application_type: "native",
            logo_uri: "https://app.example/logo.png",
            jwks_uri: "https://app.example/jwks",
            software_statement: "x",
            contacts: ["x"],
            unheard_of: { of: [1] },
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"]
          })
          expect(status).toBe(201)
          for (const name of ["scope", "logo_uri", "jwks_uri", "unheard_of"]) expect(body).not.toHaveProperty(name)
        }))

      it.effect("case 16: other grants, responses, methods and names that mislead are refused", () =>
        Effect.gen(function*() {
          for (
            const metadata of [
              { grant_types: ["implicit"] },
              { grant_types: ["authorization_code", "implicit"] },
              { grant_types: ["password"] },
              { grant_types: ["client_credentials"] },
              { grant_types: ["refresh_token"] },
              { grant_types: "authorization_code" },
              { grant_types: [] },
              { response_types: ["token"] },
              { response_types: ["code", "token"] },
              { response_types: ["code id_token"] },
              { response_types: [] },
              { token_endpoint_auth_method: "private_key_jwt" },
              { token_endpoint_auth_method: 1 },
              { client_name: "a".repeat(101) },
              { client_name: 1 },
              { client_name: ["x"] },
              { client_name: "a\u0000b" },
              { client_name: "a\nb" },
              { client_name: "a\u202eb" },
              { client_name: "a\u200bb" },
              { client_name: "a\ud800" },
              { client_name: "\u2800" },
              { client_name: "\u3164\u115f" },
              { client_name: " \u0301\u0301" }
            ]
          ) {
            expect([metadata, ...refused(yield* registration(metadata))]).toEqual([metadata, ...invalidMetadata])
          }
          expect((yield* registration({ client_name: "\u{1f600}".repeat(100) })).status).toBe(201)
          for (const client_name of [undefined, "", "  "]) {
            expect((yield* registration({ client_name })).body.client_name).toBe("Unnamed application")
          }
        }))

      it.effect("case 17: a body that is no JSON object, of another type or larger than 64 KB is refused", () =>
        Effect.gen(function*() {
          const send = (raw: string, type = "application/json") =>
            World.send("POST", "/oauth/register", { raw, headers: { "content-type": type } })
          const good = JSON.stringify({ redirect_uris: [callback] })
          for (const raw of ["[]", `[${good}]`, "null", "1", "\"x\"", "", "{", "redirect_uris=x", `${good}x`]) {
            expect([raw, ...refused(yield* send(raw))]).toEqual([raw, ...invalidMetadata])
          }
          for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) {
            expect([type, ...refused(yield* send(good, type))]).toEqual([type, ...invalidMetadata])
          }
          const large = (size: number) => JSON.stringify({ redirect_uris: [callback], pad: "x".repeat(size) })
          expect(refused(yield* send(large(65 * 1024)))).toEqual(invalidMetadata)
          expect((yield* send(large(60 * 1024), "application/json; charset=utf-8")).status).toBe(201)
        }))
    })
  })

  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 18: twenty an hour from one address, and then 429 with the seconds until one leaves the hour", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Duration.toMillis(Duration.days(20_000)))
          const from = (address: string) =>
            Effect.match(register(issuer, { redirect_uris: [callback] }, address), {
              onSuccess: () => 201,
              onFailure: (error) => error._tag === "rate_limited" ? error.retry_after : error
            })
          expect(yield* from("198.51.100.1")).toBe(201)
          yield* TestClock.adjust("10 minutes")
          for (let count = 0; count < 19; count++) expect(yield* from("198.51.100.1")).toBe(201)
          expect(yield* from("198.51.100.1")).toBe(3000)
          expect(yield* from("198.51.100.2")).toBe(201)
          yield* TestClock.adjust("2999 seconds")
          expect(yield* from("198.51.100.1")).toBe(1)
          yield* TestClock.adjust("1 second")
          expect(yield* from("198.51.100.1")).toBe(201)
          expect(yield* from("198.51.100.1")).toBe(600)
        }))

      it.effect("case 18: all addresses of a /64 are one address", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Duration.toMillis(Duration.days(20_500)))
          const from = (address: string) =>
            Effect.match(register(issuer, { redirect_uris: [callback] }, address), {
              onSuccess: () => 201,
              onFailure: (error) => error._tag
            })
          for (let count = 0; count < 20; count++) expect(yield* from(`2001:db8:0:7::${count.toString(16)}`)).toBe(201)
          expect(yield* from("2001:db8:0:7:1:2:3:4")).toBe("rate_limited")
          expect(yield* from("2001:db8:0:8::1")).toBe(201)
        }))

      it.effect("case 18: five hundred an hour in all, from however many addresses", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Duration.toMillis(Duration.days(21_000)))
          const from = (address: string) =>
            Effect.match(register(issuer, { redirect_uris: [callback] }, address), {
              onSuccess: () => 201,
              onFailure: (error) => error._tag === "rate_limited" ? error.retry_after : error
            })
          for (let count = 0; count < 500; count++) expect(yield* from(`address ${count % 100}`)).toBe(201)
          expect(yield* from("another address")).toBe(3600)
          const answer = yield* registration()
          expect([...refused(answer), answer.headers.get("retry-after")]).toEqual([429, "rate_limited", "3600"])
          yield* TestClock.adjust("1 hour")
          expect(yield* from("another address")).toBe(201)
        }))

      it.effect("case 19: a registration that nobody used for a day is swept; one with a connection stays, without its address", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Duration.toMillis(Duration.days(22_000)))
          const { admin, application, connect } = yield* stage()
          const unused = yield* registerApplication()
          yield* connect()
          const check = (client: typeof application) =>
            Effect.map(
              Authorize.check(query(client, challengeOf("x")), issuer, Option.some(admin)),
              ({ _tag }) => _tag
            )
          yield* TestClock.adjust(Duration.millis(Duration.toMillis(Duration.hours(24)) - 1))
          yield* forgetOAuth.run
          expect([yield* check(application), yield* check(unused)]).toEqual(["Ready", "Ready"])
          yield* TestClock.adjust("1 millis")
          yield* forgetOAuth.run
          expect([yield* check(application), yield* check(unused)]).toEqual(["Ready", "Page"])
          expect((yield* stored).filter(({ address }) => address !== null)).toEqual([])
        }))
    })
  })
})
