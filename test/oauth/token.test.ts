import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { crc32 } from "node:zlib"
import * as OAuthSweep from "../../src/layers/sql/OAuthSweep.ts"
import { OAuthSecrets } from "../../src/oauth/Ports.ts"
import { asOwner, forEachDatabase } from "../support/database.ts"
import { recording } from "../support/statements.ts"
import * as World from "../support/world.ts"
import {
  callback,
  challengeOf,
  connected,
  connections,
  formHeaders,
  type Granted,
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

const invalidGrant = [400, "invalid_grant"]
const hour = Duration.toMillis(Duration.hours(1))

/** The text with the checksum that makes it a secret of ours by its form. */
const withChecksum = (text: string): string => {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  let [rest, checksum] = [crc32(text), ""]
  while (checksum.length < 6) {
    checksum = alphabet.charAt(rest % 62) + checksum
    rest = Math.floor(rest / 62)
  }
  return text + checksum
}

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`
})

/** Lets the database fail at the organization's next refresh token, after the old one was marked as used. */
const breakTokens = Effect.fnUntraced(function*(organizationId: string) {
  const name = `planted_${crypto.randomUUID().replaceAll("-", "")}`
  yield* asOwner((sql) =>
    sql`
    alter table oauth_token add constraint ${sql(name)}
    check (organization_id <> ${sql.literal(`'${organizationId}'`)} or kind <> 'refresh') not valid`
  )
  return { mend: asOwner((sql) => sql`alter table oauth_token drop constraint ${sql(name)}`) }
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

describe("OAuth refresh and revocation", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 54, S5.2-13: a refresh gives a new pair, and the old access token lives to its hour", () =>
        Effect.gen(function*() {
          const { application, tokens: first } = yield* connected()
          yield* TestClock.adjust("30 minutes")
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          expect(new Set([first.access_token, second.access_token, first.refresh_token, second.refresh_token]).size)
            .toBe(4)
          expect(second).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: first.scope })
          yield* TestClock.adjust(hour / 2 - 1)
          expect([yield* use(first.access_token), yield* use(second.access_token)]).toEqual([ok, ok])
          yield* TestClock.adjust("1 millis")
          expect([yield* use(first.access_token), yield* use(second.access_token)]).toEqual([invalidToken, ok])
        }))

      it.effect("case 55, S5.2-14: a used refresh token disconnects the whole connection, and the journal says so", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization, tokens: first } = yield* connected()
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          const third = tokens(yield* refreshWith(application, second.refresh_token))
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          for (const { access_token, refresh_token } of [first, second, third]) {
            expect(yield* use(access_token)).toEqual(invalidToken)
            expect(refused(yield* refreshWith(application, refresh_token))).toEqual(invalidGrant)
          }
          const [connection] = yield* connections(organization.id)
          expect(connection?.revoked_at).not.toBeNull()
          const entries = (yield* World.changes(organization.id)).filter(({ action }) => action !== "oauth.connected")
          expect(entries).toMatchObject([{
            action: "refresh_token.reused",
            outcome: "done",
            actor_type: "service",
            credential_kind: "oauth",
            credential_id: connectionId,
            target_type: "ai_connection",
            target_id: connectionId,
            details: { client_name: "An app" }
          }])
        }))

      it.effect("case 55, S5.2-14: a used refresh token is recognised to its last millisecond, and is not kept for it", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization, tokens: first } = yield* connected()
          const rows = Effect.map(
            World.query<{ kind: string }>(
              organization.id,
              (sql) => sql`select kind from oauth_token where connection_id = ${connectionId} order by kind`
            ),
            (found) => found.map(({ kind }) => kind)
          )
          yield* TestClock.adjust("1 hour")
          let last = first
          for (let count = 0; count < 30; count++) {
            yield* TestClock.adjust("30 minutes")
            last = tokens(yield* refreshWith(application, last.refresh_token))
          }
          expect(yield* rows).toEqual(["access", "access", "refresh"])
          yield* TestClock.adjust(90 * 24 * hour - 16 * hour - 1)
          yield* OAuthSweep.sweep
          expect(yield* rows).toEqual(["refresh"])
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).not.toBeNull()
          expect(refused(yield* refreshWith(application, last.refresh_token))).toEqual(invalidGrant)
        }))

      it.effect("case 60: a used refresh token that has ended disconnects nothing", () =>
        Effect.gen(function*() {
          const { application, tokens: first } = yield* connected()
          yield* TestClock.adjust("1 hour")
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          yield* TestClock.adjust(90 * 24 * hour - hour)
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* refreshWith(application, second.refresh_token)).status).toBe(200)
        }))

      it.effect("a refresh token whose generation, end, connection or seal is another proves nothing", () =>
        Effect.gen(function*() {
          const { application, connectionId, tokens: first } = yield* connected()
          const secrets = yield* OAuthSecrets
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          const now = yield* Clock.currentTimeMillis
          const reference = secrets.reference(Redacted.make(second.refresh_token))
          expect(reference).toEqual({ connectionId, generation: 2, expiresAt: new Date(now + 90 * 24 * hour) })
          const payload = (token: string) => token.slice("osc_ort_".length, -6)
          const [before, current] = [payload(first.refresh_token), payload(second.refresh_token)]
          const forged = Array.from({ length: current.length }, (_, at) => [
            current.slice(0, at) + (current[at] === "0" ? "1" : "0") + current.slice(at + 1),
            current.slice(0, at) + before.slice(at)
          ]).flat().filter((text) => text !== current && text !== before)
          for (const text of forged) {
            const token = withChecksum(`osc_ort_${text}`)
            expect(secrets.isWellFormed("refresh", Redacted.make(token))).toBe(false)
          }
          expect(refused(yield* refreshWith(application, withChecksum(`osc_ort_${forged[0]}`)))).toEqual(invalidGrant)
          // One of a later generation is of a database that was restored since: nothing can be said about it.
          const later = yield* secrets.makeRefresh({ ...reference!, generation: 3 })
          expect(refused(yield* refreshWith(application, Redacted.value(later)))).toEqual(invalidGrant)
          expect((yield* refreshWith(application, second.refresh_token)).status).toBe(200)
        }))

      it.effect("a refresh token of before it said which one it is works once, and is recognised when it comes again", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization } = yield* connected()
          const secrets = yield* OAuthSecrets
          const [code, now] = [yield* secrets.make("code"), yield* Clock.currentTimeMillis]
          const former = withChecksum(`osc_ort_${Redacted.value(code).slice("osc_oac_".length, -6)}`)
          const row = {
            organization_id: organization.id,
            ...secrets.digest(Redacted.make(former)),
            connection_id: connectionId,
            kind: "refresh",
            scopes: ["org:read"],
            created_at: new Date(now),
            expires_at: new Date(now + hour)
          }
          yield* World.query(organization.id, (sql) => sql`insert into oauth_token ${sql.insert(row)} returning digest`)
          const next = tokens(yield* refreshWith(application, former))
          expect((yield* refreshWith(application, next.refresh_token)).status).toBe(200)
          expect(refused(yield* refreshWith(application, former))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).not.toBeNull()
        }))

      it.effect("a connection gets ten pairs of tokens in a minute and sixty in an hour, and a refusal writes and uses up nothing", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization, tokens: first } = yield* connected()
          const rows = World.query(
            organization.id,
            (sql) => sql`select * from oauth_token where connection_id = ${connectionId} order by digest`
          )
          let last = first
          const refreshTimes = Effect.fnUntraced(function*(times: number) {
            for (let count = 0; count < times; count++) {
              last = tokens(yield* refreshWith(application, last.refresh_token))
            }
          })
          const refusedFor = Effect.fnUntraced(function*(seconds: string) {
            const before = yield* rows
            const answer = yield* refreshWith(application, last.refresh_token)
            expect([answer.status, answer.body.error, answer.headers.get("retry-after")]).toEqual([
              429,
              "rate_limited",
              seconds
            ])
            expect(yield* rows).toEqual(before)
            const { answer: again, said } = yield* recording(refreshWith(application, last.refresh_token))
            expect([again.status, again.body, said]).toEqual([429, answer.body, []])
          })
          yield* refreshTimes(9)
          yield* refusedFor("60")
          yield* TestClock.adjust(59_999)
          yield* refusedFor("1")
          yield* TestClock.adjust(1)
          yield* refreshTimes(10)
          for (let minute = 0; minute < 4; minute++) {
            yield* TestClock.adjust("1 minute")
            yield* refreshTimes(10)
          }
          yield* TestClock.adjust("1 minute")
          expect((yield* rows).length).toBe(61)
          yield* refusedFor(String(54 * 60))
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).not.toBeNull()
        }))

      it.effect("case 57: another connection of the same application and admin is untouched", () =>
        Effect.gen(function*() {
          const { application, connect, tokens: first } = yield* connected()
          const other = tokens(yield* redeemWith(yield* connect()))
          yield* refreshWith(application, first.refresh_token)
          yield* refreshWith(application, first.refresh_token)
          expect([yield* use(first.access_token), yield* use(other.access_token)]).toEqual([invalidToken, ok])
          expect((yield* refreshWith(application, other.refresh_token)).status).toBe(200)
        }))

      it.effect("case 58: a narrower scope narrows the access token alone; a wider one gives nothing and uses nothing up", () =>
        Effect.gen(function*() {
          const { application, tokens: first } = yield* connected({ params: { scope: "archive:read org:read" } })
          for (const scope of ["org:read accounts:write", "everything", "archive:read org:read archive:delete"]) {
            expect([scope, ...refused(yield* refreshWith(application, first.refresh_token, { scope }))]).toEqual([
              scope,
              400,
              "invalid_scope"
            ])
          }
          const narrow = tokens(yield* refreshWith(application, first.refresh_token, { scope: "archive:read" }))
          expect(narrow.scope).toBe("archive:read")
          expect(yield* use(narrow.access_token)).toEqual([403, "insufficient_scope"])
          const full = tokens(yield* refreshWith(application, narrow.refresh_token))
          expect(full.scope).toBe("archive:read org:read")
          expect(yield* use(full.access_token)).toEqual(ok)
        }))

      it.effect("case 59: another resource or another application gives nothing, uses nothing up and disconnects nothing", () =>
        Effect.gen(function*() {
          const { application, organization, tokens: first } = yield* connected()
          const other = yield* registerApplication()
          const resource = yield* refreshWith(application, first.refresh_token, { resource: mcp })
          expect(refused(resource)).toEqual([400, "invalid_target"])
          expect(refused(yield* refreshWith(other, first.refresh_token))).toEqual(invalidGrant)
          const second = tokens(yield* refreshWith(application, first.refresh_token, { resource: v1 }))
          expect(refused(yield* refreshWith(other, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
          expect(yield* use(second.access_token)).toEqual(ok)
        }))

      it.effect("case 60, S5.2-12: a refresh token lasts 90 days, and not at their end; each rotation starts them anew", () =>
        Effect.gen(function*() {
          const { application, organization, tokens: first } = yield* connected()
          const almost = Duration.toMillis(Duration.days(90)) - 1
          yield* TestClock.adjust(almost)
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          yield* TestClock.adjust(almost)
          const third = tokens(yield* refreshWith(application, second.refresh_token))
          const [connection] = yield* connections(organization.id)
          expect(connection?.expires_at?.getTime()).toBe((yield* Clock.currentTimeMillis) + almost + 1)
          yield* TestClock.adjust(almost + 1)
          expect(refused(yield* refreshWith(application, third.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
        }))

      it.effect("case 61: a failure of the database in the middle of a refresh uses nothing up", () =>
        Effect.gen(function*() {
          const { application, organization, tokens: first } = yield* connected()
          const { mend } = yield* breakTokens(organization.id)
          const answer = yield* refreshWith(application, first.refresh_token)
          expect(refused(answer)).toEqual([500, "server_error"])
          expect(JSON.stringify(answer.body)).not.toContain("planted")
          yield* mend
          expect((yield* refreshWith(application, first.refresh_token)).status).toBe(200)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
        }))

      it.effect("case 62, S5.2-08: revoking by either token disconnects, and unknown, foreign or no tokens do nothing", () =>
        Effect.gen(function*() {
          const { application, connect, connectionId, organization, tokens: first } = yield* connected()
          const other = yield* registerApplication()
          for (
            const token of [
              "unknown",
              first.refresh_token.slice(0, -1),
              `${first.access_token}x`,
              "osc_live_x",
              "\u0000"
            ]
          ) {
            expect([token, (yield* revokeWith(application, token)).status]).toEqual([token, 200])
          }
          expect((yield* revokeWith(other, first.access_token)).status).toBe(200)
          expect((yield* revokeWith(other, first.refresh_token)).status).toBe(200)
          expect(refused(yield* revokeWith(application, ""))).toEqual([400, "invalid_request"])
          expect(refused(yield* revokeWith({ client_id: crypto.randomUUID() }, first.access_token))).toEqual([
            401,
            "invalid_client"
          ])
          expect(yield* use(first.access_token)).toEqual(ok)
          const answer = yield* revokeWith(application, first.refresh_token, { token_type_hint: "access_token" })
          expect(answer.status).toBe(200)
          expect(yield* use(first.access_token)).toEqual(invalidToken)
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* revokeWith(application, first.refresh_token)).status).toBe(200)
          const second = tokens(yield* redeemWith(yield* connect()))
          expect((yield* revokeWith(application, second.access_token)).status).toBe(200)
          expect(refused(yield* refreshWith(application, second.refresh_token))).toEqual(invalidGrant)
          const entries = (yield* World.changes(organization.id)).filter(({ action }) => action !== "oauth.connected")
          expect(entries.map(({ action }) => action)).toEqual(["ai_connection.revoked", "ai_connection.revoked"])
          expect(entries[0]).toMatchObject({
            actor_type: "admin",
            actor_admin_id: organization.admins.owner.id,
            credential_kind: "oauth",
            credential_id: connectionId,
            target_id: connectionId
          })
        }))

      it.effect("case 63: a disabled admin's tokens stop at once and work again when enabled, and a lower role does less", () =>
        Effect.gen(function*() {
          const { application, organization, owner, tokens: first } = yield* connected()
          const account = yield* World.makeAccount(organization.id)
          const profile = () =>
            Effect.map(World.get(`/v1/accounts/${account}/messenger-profile`, first.access_token), World.refusal)
          yield* World.set(organization.id, "admin", owner.id, { disabled_at: new Date(0) })
          expect(yield* use(first.access_token)).toEqual(invalidToken)
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          yield* World.set(organization.id, "admin", owner.id, { disabled_at: null })
          expect(yield* use(first.access_token)).toEqual(ok)
          expect(yield* profile()).toEqual([404, "resource_missing", "account_id"])
          yield* World.set(organization.id, "admin", owner.id, { role: "billing" })
          expect(yield* profile()).toEqual([403, "role_forbidden"])
          expect((yield* refreshWith(application, first.refresh_token)).status).toBe(200)
        }))

      it.effect("case 63: a disabled admin's used refresh token neither works nor disconnects", () =>
        Effect.gen(function*() {
          const { application, organization, owner, tokens: first } = yield* connected()
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          yield* World.set(organization.id, "admin", owner.id, { disabled_at: new Date(0) })
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          yield* World.set(organization.id, "admin", owner.id, { disabled_at: null })
          expect(yield* use(second.access_token)).toEqual(ok)
        }))

      it.effect("case 65, S5.3-02: a missing scope is named in the answer and its header", () =>
        Effect.gen(function*() {
          const { tokens: first } = yield* connected()
          const answer = yield* World.put("/v1/me/mail-preferences", first.access_token, {
            security: true,
            storage: true,
            news: true,
            offers: true
          })
          expect(World.refusal(answer)).toEqual([403, "insufficient_scope"])
          expect(answer.headers.get("www-authenticate")).toBe(
            "Bearer error=\"insufficient_scope\", scope=\"accounts:write\""
          )
        }))

      it.effect("case 65: a scope that is taken from the connection is missing in its tokens at once", () =>
        Effect.gen(function*() {
          const { organization, tokens: first } = yield* connected({ params: { scope: "archive:read org:read" } })
          yield* World.query(organization.id, (sql) =>
            sql`update ai_connection set scopes = array['archive:read']
              where organization_id = ${organization.id} returning id`)
          expect(yield* use(first.access_token)).toEqual([403, "insufficient_scope"])
        }))

      it.effect("case 67: nothing sets a cookie", () =>
        Effect.gen(function*() {
          const { application, connect, tokens: first } = yield* connected()
          const answers = [
            yield* redeemWith(yield* connect()),
            yield* refreshWith(application, first.refresh_token),
            yield* revokeWith(application, first.access_token),
            yield* World.send("POST", "/oauth/register", { body: { redirect_uris: [callback] } }),
            yield* World.send("GET", "/.well-known/oauth-authorization-server"),
            yield* World.send("GET", "/.well-known/oauth-protected-resource/mcp"),
            yield* World.get("/v1/organization", first.access_token)
          ]
          for (const { headers } of answers) expect(headers.getSetCookie()).toEqual([])
        }))

      it.effect("case 72: an API key works at both resources", () =>
        Effect.gen(function*() {
          const { owner } = yield* connected()
          const key = Redacted.value(owner.key)
          expect([yield* works(key, v1), yield* works(key, mcp)]).toEqual([true, true])
        }))

      it.effect("a sweep forgets expired tokens, codes a day later, and whatever a revoked connection has left", () =>
        Effect.gen(function*() {
          const { application, connect, connectionId, organization, tokens: first } = yield* connected()
          const [other] = yield* Effect.map(
            Effect.andThen(connect(), connections(organization.id)),
            (found) => found.filter(({ id }) => id !== connectionId)
          )
          const kept = World.query<{ connection_id: string; kind: string }>(organization.id, (sql) =>
            sql`
              select connection_id, kind from oauth_token where organization_id = ${organization.id}
              union all
              select connection_id, 'code' from oauth_code where organization_id = ${organization.id}
              order by kind`)
          const left = Effect.map(
            kept,
            (rows) =>
              rows.map(({ connection_id, kind }) => `${kind} of ${connection_id === connectionId ? "one" : "other"}`)
          )
          yield* refreshWith(application, first.refresh_token)
          const whole = [
            "access of one",
            "access of one",
            "code of one",
            "code of other",
            "refresh of one"
          ]
          yield* TestClock.adjust(hour - 1)
          yield* OAuthSweep.sweep
          expect((yield* left).toSorted()).toEqual(whole)
          yield* World.query(organization.id, (sql) =>
            sql`update ai_connection set revoked_at = created_at
              where organization_id = ${organization.id} and id = ${other!.id} returning id`)
          yield* TestClock.adjust("1 millis")
          yield* OAuthSweep.sweep
          expect((yield* left).toSorted()).toEqual(["code of one", "refresh of one"])
          yield* TestClock.adjust(24 * hour)
          yield* OAuthSweep.sweep
          expect((yield* left).toSorted()).toEqual(["refresh of one"])
          yield* TestClock.adjust(90 * 24 * hour)
          yield* OAuthSweep.sweep
          expect(yield* left).toEqual([])
        }))

      it.effect("when a connection was last used is written at most once a minute", () =>
        Effect.gen(function*() {
          const { organization, tokens: first } = yield* connected()
          const lastUsed = Effect.map(connections(organization.id), ([found]) => found?.last_used_at?.getTime())
          expect(yield* lastUsed).toBeUndefined()
          yield* use(first.access_token)
          const used = yield* lastUsed
          yield* TestClock.adjust("59999 millis")
          yield* use(first.access_token)
          expect(yield* lastUsed).toBe(used)
          yield* TestClock.adjust("1 millis")
          yield* use(first.access_token)
          expect(yield* lastUsed).toBe(used! + 60_000)
        }))
    })
  })
})
