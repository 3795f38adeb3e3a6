import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { OAuthSecrets } from "../../src/ports/oauth/OAuthPorts.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  callback,
  challengeOf,
  connected,
  connections,
  formHeaders,
  type Granted,
  invalidGrant,
  invalidToken,
  makeVerifier,
  mcp,
  ok,
  post,
  redeemWith,
  refreshWith,
  refused,
  registerApplication,
  revokeWith,
  stage,
  tokens,
  use,
  v1,
  works
} from "./support.ts"

const hour = Duration.toMillis(Duration.hours(1))

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`
})

describe("the OAuth token endpoint", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 42, S5.2-11: a code gives a bearer token for an hour, a refresh token and the granted scope", () =>
        Effect.gen(function*() {
          const { connect, organization } = yield* stage({ params: { scope: "archive:read org:read" } })
          const { body, headers, status } = yield* redeemWith(yield* connect())
          expect([status, headers.get("cache-control"), headers.get("pragma")]).toEqual([200, "no-store", "no-cache"])
          expect(body).toEqual({
            access_token: expect.stringMatching(/^osc_oat_[0-9A-Za-z]{49}$/),
            token_type: "Bearer",
            expires_in: 3600,
            refresh_token: expect.stringMatching(/^osc_ort_[0-9A-Za-z]{106}$/),
            scope: "archive:read org:read"
          })
          const answer = yield* World.get("/v1/organization", body.access_token)
          expect([answer.status, answer.body.id]).toEqual([200, organization.id])
        }))

      it.effect("case 43, S5.2-01: a wrong, missing or short verifier gives nothing, and the code is still there for the right one", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          const granted = yield* connect()
          for (
            const code_verifier of [
              makeVerifier(),
              undefined,
              "",
              granted.verifier.slice(0, 42),
              `${granted.verifier}a`,
              challengeOf(granted.verifier),
              `${granted.verifier.slice(0, 42)} `,
              "a".repeat(129)
            ]
          ) {
            expect([code_verifier, ...refused(yield* redeemWith(granted, { code_verifier }))]).toEqual([
              code_verifier,
              ...invalidGrant
            ])
          }
          expect((yield* redeemWith(granted)).status).toBe(200)
        }))

      it.effect("case 44: the second use of a code stops the tokens of the first and disconnects, and the journal says so", () =>
        Effect.gen(function*() {
          const { connectionId, granted, organization, tokens: first } = yield* connected()
          expect(yield* use(first.access_token)).toEqual(ok)
          expect(refused(yield* redeemWith(granted))).toEqual(invalidGrant)
          expect(yield* use(first.access_token)).toEqual(invalidToken)
          expect(refused(yield* refreshWith(granted.application, first.refresh_token))).toEqual(invalidGrant)
          const [connection] = yield* connections(organization.id)
          expect(connection?.revoked_at).not.toBeNull()
          expect((yield* World.journal(organization.id)).at(-1)).toMatchObject({
            action: "authorization_code.reused",
            actor_type: "service",
            credential_kind: "oauth",
            credential_id: connectionId,
            via: "rest",
            target_type: "ai_connection",
            target_id: connectionId
          })
        }))

      it.effect("case 45: a code lasts 60 seconds, and not at the sixtieth", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          const [one, two] = [yield* connect(), yield* connect()]
          yield* TestClock.adjust("59999 millis")
          expect((yield* redeemWith(one)).status).toBe(200)
          yield* TestClock.adjust("1 millis")
          expect(refused(yield* redeemWith(two))).toEqual(invalidGrant)
        }))

      it.effect("case 46: another address gives nothing, and none at all is accepted", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          const granted = yield* connect()
          for (const redirect_uri of [`${callback}/`, "https://app.example/other", "x"]) {
            expect(refused(yield* redeemWith(granted, { redirect_uri }))).toEqual(invalidGrant)
          }
          expect((yield* redeemWith(granted, { redirect_uri: undefined })).status).toBe(200)
        }))

      it.effect("case 47: another application's code is no code, before and after its use, and its connection is untouched", () =>
        Effect.gen(function*() {
          const { connect, organization } = yield* stage()
          const granted = yield* connect()
          const other = yield* registerApplication()
          const stolen = { ...granted, application: other }
          expect(refused(yield* redeemWith(stolen))).toEqual(invalidGrant)
          const first = tokens(yield* redeemWith(granted))
          expect(refused(yield* redeemWith(stolen))).toEqual(invalidGrant)
          expect(yield* use(first.access_token)).toEqual(ok)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
        }))

      it.effect("case 48: another resource than the granted one gives nothing and uses nothing up", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          const granted = yield* connect()
          for (const resource of [mcp, `${v1}/`, "x", [v1, mcp]]) {
            expect([resource, ...refused(yield* redeemWith(granted, { resource }))]).toEqual([
              resource,
              400,
              "invalid_target"
            ])
          }
          expect((yield* redeemWith(granted, { resource: v1 })).status).toBe(200)
        }))

      it.effect("case 50: an application proves who it is by the method that it registered, and by one alone", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          for (const method of ["client_secret_basic", "client_secret_post"] as const) {
            const application = yield* registerApplication({ token_endpoint_auth_method: method })
            const { client_id } = application
            const client_secret = application.client_secret!
            const granted = yield* connect({}, application)
            const inHeader = (id: string, secret: string, params = {}) =>
              post("/oauth/token", {
                grant_type: "authorization_code",
                code: granted.code,
                code_verifier: granted.verifier,
                ...params
              }, basic(id, secret))
            const inBody = (params: Record<string, string | undefined> = {}) =>
              redeemWith(granted, { client_secret, ...params })
            const unknown = [
              yield* inHeader(client_id, `${client_secret}x`),
              yield* inHeader(client_id, ""),
              yield* inHeader(crypto.randomUUID(), client_secret),
              yield* inHeader("\u0000", client_secret),
              yield* inBody({ client_secret: "wrong" }),
              yield* inBody({ client_secret: undefined }),
              yield* inBody({ client_id: undefined, client_secret: undefined }),
              yield* inBody({ client_id: crypto.randomUUID() }),
              yield* method === "client_secret_basic" ? inBody() : inHeader(client_id, client_secret),
              yield* post("/oauth/token", { grant_type: "refresh_token" }, {
                authorization: `Bearer ${client_secret}`
              }),
              yield* post("/oauth/token", { grant_type: "refresh_token" }, { authorization: "Basic ====" }),
              yield* post("/oauth/token", { grant_type: "refresh_token" }, { authorization: "Basic eA==" })
            ]
            for (const [at, answer] of unknown.entries()) {
              expect([at, ...refused(answer)]).toEqual([at, 401, "invalid_client"])
              expect(answer.headers.get("www-authenticate")).toBe("Basic realm=\"oauth\"")
            }
            const both = yield* inHeader(client_id, client_secret, { client_secret })
            expect(refused(both)).toEqual([400, "invalid_request"])
            const two = yield* inHeader(client_id, client_secret, { client_id: crypto.randomUUID() })
            expect(refused(two)).toEqual([400, "invalid_request"])
            const answer = yield* method === "client_secret_basic"
              ? inHeader(client_id, client_secret, { client_id })
              : inBody()
            expect(answer.status).toBe(200)
          }
        }))

      it.effect("case 50: a public application cannot be one with a secret, nor one with a secret a public one", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          const granted = yield* connect()
          const answer = yield* redeemWith(granted, { client_secret: "anything" })
          expect(refused(answer)).toEqual([401, "invalid_client"])
          const secret = yield* registerApplication({ token_endpoint_auth_method: "client_secret_post" })
          const theirs: Granted = yield* connect({}, secret)
          expect(refused(yield* redeemWith(theirs))).toEqual([401, "invalid_client"])
        }))

      it.effect("case 51: other grants, missing and repeated parameters, other bodies and methods are refused", () =>
        Effect.gen(function*() {
          const { connect } = yield* stage()
          const granted = yield* connect()
          for (
            const grant_type of ["password", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code", "x"]
          ) {
            expect(refused(yield* redeemWith(granted, { grant_type }))).toEqual([400, "unsupported_grant_type"])
          }
          for (
            const params of [
              { grant_type: undefined },
              { grant_type: "" },
              { grant_type: ["authorization_code", "authorization_code"] },
              { code: [granted.code, granted.code] },
              { code: undefined },
              { grant_type: "refresh_token", refresh_token: undefined },
              { client_id: [granted.application.client_id, granted.application.client_id] }
            ]
          ) {
            expect([params, ...refused(yield* redeemWith(granted, params))]).toEqual([params, 400, "invalid_request"])
          }
          for (const code of ["x", `${granted.code}x`, "osc_oac_", "\u0000", granted.code.toLowerCase()]) {
            expect([code, ...refused(yield* redeemWith(granted, { code }))]).toEqual([code, ...invalidGrant])
          }
          const json = yield* World.send("POST", "/oauth/token", { body: { grant_type: "authorization_code" } })
          expect(refused(json)).toEqual([400, "invalid_request"])
          const empty = yield* World.send("POST", "/oauth/token", { raw: "", headers: formHeaders })
          expect(refused(empty)).toEqual([400, "invalid_request"])
          const large = yield* World.send("POST", "/oauth/token", { raw: "x".repeat(70_000), headers: formHeaders })
          expect(refused(large)).toEqual([400, "invalid_request"])
          const notUtf8 = yield* World.send("POST", "/oauth/token", {
            raw: new Uint8Array([0xff, 0xfe]),
            headers: formHeaders
          })
          expect(refused(notUtf8)).toEqual([400, "invalid_request"])
          expect((yield* World.send("GET", "/oauth/token")).status).toBe(404)
          expect((yield* redeemWith(granted)).status).toBe(200)
        }))

      it.effect("case 52, S5.2-11: an access token lasts an hour, and not at its end", () =>
        Effect.gen(function*() {
          const { tokens: first } = yield* connected()
          yield* TestClock.adjust(hour - 1)
          expect(yield* use(first.access_token)).toEqual(ok)
          yield* TestClock.adjust("1 millis")
          expect(yield* use(first.access_token)).toEqual(invalidToken)
        }))

      it.effect("case 53, S5.2-10: a token works at the resource that it was issued for alone, and in the header alone", () =>
        Effect.gen(function*() {
          const { connect, tokens: forV1 } = yield* connected()
          const forMcp = tokens(yield* redeemWith(yield* connect({ params: { resource: mcp } })))
          expect(yield* use(forV1.access_token)).toEqual(ok)
          expect(yield* use(forMcp.access_token)).toEqual(invalidToken)
          expect(yield* works(forMcp.access_token, mcp)).toBe(true)
          expect(yield* works(forV1.access_token, mcp)).toBe(false)
          expect(yield* works(forV1.access_token, "https://acme.test/v1")).toBe(false)
          const inQuery = yield* World.send("GET", `/v1/organization?access_token=${forV1.access_token}`)
          expect(World.refusal(inQuery)).toEqual([401, "invalid_api_key"])
          const twice = yield* World.send("GET", "/v1/organization", {
            headers: { authorization: `Bearer ${forV1.access_token}, Bearer ${forV1.access_token}` }
          })
          expect(twice.status).toBe(401)
        }))

      it.effect("S7-11: a token that never was, an expired and a revoked one are refused alike, as tokens", () =>
        Effect.gen(function*() {
          const { application, connect, tokens: revoked } = yield* connected()
          const expired = tokens(yield* redeemWith(yield* connect()))
          yield* revokeWith(application, revoked.access_token)
          yield* TestClock.adjust(hour)
          const unknown = Redacted.value(yield* (yield* OAuthSecrets).make("access"))
          const answers = yield* Effect.forEach(
            [unknown, expired.access_token, revoked.access_token],
            (token) => World.get("/v1/organization", token)
          )
          for (const { body, headers, status } of answers) {
            expect([status, body, headers.get("www-authenticate")]).toEqual([
              401,
              {
                error: {
                  type: "authentication_error",
                  code: "invalid_token",
                  message: "The access token is invalid, expired or revoked."
                }
              },
              `Bearer resource_metadata="${World.baseUrl}/.well-known/oauth-protected-resource/v1"`
            ])
          }
        }))

      it.effect("case 53: a refresh token, a code and a client's secret are no access tokens", () =>
        Effect.gen(function*() {
          const { connect, tokens: first } = yield* connected()
          const application = yield* registerApplication({ token_endpoint_auth_method: "client_secret_post" })
          for (
            const secret of [first.refresh_token, (yield* connect()).code, application.client_secret!]
          ) {
            expect(yield* use(secret)).toEqual([401, "invalid_api_key"])
          }
          const renamed = first.access_token.replace("_oat_", "_ort_")
          expect(yield* use(renamed)).toEqual([401, "invalid_api_key"])
        }))
    })
  })
})
