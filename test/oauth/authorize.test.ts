import { describe, expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Scope } from "../../src/domain/people/Access.ts"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { challenge, check, error, ready, reportedBy } from "./authorizing.ts"
import { approve, callback, connections, mcp, query, registerApplication, stage, v1 } from "./support.ts"

/** Every way in which a request can be wrong that the application is told about, each with its code. */
const wrong: ReadonlyArray<readonly [Record<string, string | ReadonlyArray<string> | undefined>, string]> = [
  [{ code_challenge: undefined }, "invalid_request"],
  [{ code_challenge_method: "plain" }, "invalid_request"],
  [{ code_challenge_method: undefined }, "invalid_request"],
  [{ code_challenge_method: "s256" }, "invalid_request"],
  [{ code_challenge: challenge.slice(0, 42) }, "invalid_request"],
  [{ code_challenge: `${challenge}A` }, "invalid_request"],
  [{ code_challenge: `${challenge.slice(0, 42)}=` }, "invalid_request"],
  [{ response_type: "token" }, "unsupported_response_type"],
  [{ response_type: "id_token" }, "unsupported_response_type"],
  [{ response_type: "code id_token" }, "unsupported_response_type"],
  [{ response_type: undefined }, "invalid_request"],
  [{ response_mode: "fragment" }, "invalid_request"],
  [{ response_mode: "form_post" }, "invalid_request"],
  [{ resource: undefined }, "invalid_target"],
  [{ resource: "https://elsewhere.example/v1" }, "invalid_target"],
  [{ resource: `${v1}/` }, "invalid_target"],
  [{ resource: `${v1}?` }, "invalid_target"],
  [{ resource: World.baseUrl }, "invalid_target"],
  [{ resource: [v1, mcp] }, "invalid_target"],
  [{ resource: [v1, v1] }, "invalid_target"],
  [{ scope: "everything" }, "invalid_scope"],
  [{ scope: "openid profile" }, "invalid_scope"],
  [{ scope: "ORG:READ" }, "invalid_scope"],
  [{ scope: ["org:read", "org:read"] }, "invalid_request"],
  [{ code_challenge: [challenge, challenge] }, "invalid_request"],
  [{ prompt: "none" }, "interaction_required"],
  [{ prompt: "login none" }, "interaction_required"],
  [{ request: "eyJ" }, "request_not_supported"],
  [{ request_uri: "https://app.example/request" }, "request_uri_not_supported"]
]

describe("OAuth authorization", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 20: an unknown, missing or repeated client_id is a page, and no redirect", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          for (
            const client_id of [
              undefined,
              "",
              crypto.randomUUID(),
              "unknown",
              "x'; drop table oauth_client; --",
              "\u0000",
              application.client_id.toUpperCase(),
              [application.client_id, application.client_id],
              [application.client_id, crypto.randomUUID()]
            ]
          ) {
            for (const who of [admin, null]) {
              expect([client_id, yield* check(query(application, challenge, { client_id }), who)]).toEqual([
                client_id,
                { _tag: "Page", reason: "client_id" }
              ])
            }
          }
        }))

      it.effect("case 20: an application is known at the issuer that it registered with alone", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const elsewhere = { baseUrl: "https://acme.test", organizationId: null }
          const text = query(application, challenge, { resource: "https://acme.test/v1" })
          expect(yield* Authorize.check(text, elsewhere, Option.some(admin))).toEqual({
            _tag: "Page",
            reason: "client_id"
          })
        }))

      it.effect("case 21: an address that is not registered, to the character, is a page", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          for (
            const redirect_uri of [
              "https://evil.example/callback",
              "https://app.example/other",
              "https://app.example/callback/",
              "https://app.example/callback?x=1",
              "https://app.example/callback?",
              "https://app.example/callback#x",
              "https://app.example/Callback",
              "https://APP.example/callback",
              "https://app.example:443/callback",
              "https://app.example/x/../callback",
              "http://app.example/callback",
              "https://app.example.evil.example/callback",
              [callback, callback],
              [callback, "https://evil.example/"]
            ]
          ) {
            for (const who of [admin, null]) {
              expect([redirect_uri, yield* check(query(application, challenge, { redirect_uri }), who)]).toEqual([
                redirect_uri,
                { _tag: "Page", reason: "redirect_uri" }
              ])
            }
          }
        }))

      it.effect("case 21: without an address the only registered one is meant, and one of several is not", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const without = query(application, challenge, { redirect_uri: undefined })
          expect(ready(yield* check(without, admin)).redirectUri).toBe(callback)
          const several = yield* registerApplication({ redirect_uris: [callback, `${callback}/two`] })
          const text = query(several, challenge, { redirect_uri: undefined })
          expect(yield* check(text, admin)).toEqual({ _tag: "Page", reason: "redirect_uri" })
        }))

      it.effect("case 22: the port is ignored on this machine alone, and localhost is not 127.0.0.1", () =>
        Effect.gen(function*() {
          const { admin } = yield* stage()
          const asked = Effect.fnUntraced(function*(registered: string, redirect_uri: string) {
            const application = yield* registerApplication({ redirect_uris: [registered] })
            const checked = yield* check(query(application, challenge, { redirect_uri }), admin)
            return checked._tag === "Ready" ? checked.request.redirectUri : checked._tag
          })
          for (
            const [registered, uri] of [
              ["http://127.0.0.1:1000/cb", "http://127.0.0.1:53211/cb"],
              ["http://127.0.0.1/cb", "http://127.0.0.1:53211/cb"],
              ["http://127.0.0.1:1000/cb", "http://127.0.0.1/cb"],
              ["http://localhost:3334/x?y=1", "http://localhost:4/x?y=1"]
            ] as const
          ) {
            expect([registered, yield* asked(registered, uri)]).toEqual([registered, uri])
          }
          for (
            const [registered, uri] of [
              ["http://127.0.0.1:1000/cb", "http://localhost:1000/cb"],
              ["http://localhost:1000/cb", "http://127.0.0.1:1000/cb"],
              ["http://127.0.0.1:1000/cb", "http://127.0.0.1:1000/other"],
              ["http://127.0.0.1:1000/cb", "https://127.0.0.1:1000/cb"],
              ["http://127.0.0.1:1000/cb", "http://127.0.0.1:99999/cb"],
              ["http://127.0.0.1:1000/cb", "http://127.0.0.1:1000@evil.example/cb"],
              ["http://localhost:1000/cb", "http://localhost.evil.example:1000/cb"],
              ["https://localhost:1000/cb", "https://localhost:2000/cb"],
              ["https://app.example/cb", "https://app.example:8443/cb"]
            ] as const
          ) {
            expect([registered, uri, yield* asked(registered, uri)]).toEqual([registered, uri, "Page"])
          }
        }))

      it.effect("cases 23 to 29, S5.2-02: any other fault is reported to the application, with state and iss", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          for (const [params, code] of wrong) {
            const checked = yield* check(query(application, challenge, params), admin)
            expect([params, reportedBy(checked)]).toEqual([params, error(code)])
          }
          const twice = yield* check(query(application, challenge, { state: ["one", "two"] }), admin)
          expect(reportedBy(twice)).toEqual(["invalid_request", null, World.baseUrl])
          const without = yield* check(query(application, challenge, { state: undefined, resource: "x" }), admin)
          expect(reportedBy(without)).toEqual(["invalid_target", null, World.baseUrl])
          expect(yield* connections(admin.organizationId)).toEqual([])
        }))

      it.effect("case 24: the answer is added to the query that the address has, and state comes back as it was", () =>
        Effect.gen(function*() {
          const { admin } = yield* stage()
          const uri = "https://app.example/cb?fixed=1"
          const application = yield* registerApplication({ redirect_uris: [uri] })
          const state = "a&b=c d/\u{1f600}%00#?"
          const { location } = yield* approve(application, admin, challenge, { params: { redirect_uri: uri, state } })
          expect(location.href.startsWith("https://app.example/cb?fixed=1&code=")).toBe(true)
          expect([...location.searchParams.keys()]).toEqual(["fixed", "code", "state", "iss"])
          expect(location.searchParams.get("state")).toBe(state)
          expect(location.hash).toBe("")
        }))

      it.effect("case 27: unknown scopes are dropped; none means all six offered, of which the two that read are ticked", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const scopes = (scope: string | undefined) =>
            Effect.map(
              Effect.map(check(query(application, challenge, { scope }), admin), ready),
              ({ offered, ticked }) => ({ offered, ticked })
            )
          const reading = ["archive:read", "org:read"]
          for (const none of [undefined, "", "offline_access"]) {
            expect([none, yield* scopes(none)]).toEqual([none, { offered: Scope.literals, ticked: reading }])
          }
          expect(yield* scopes("openid org:read everything offline_access")).toEqual({
            offered: ["org:read"],
            ticked: ["org:read"]
          })
          expect(yield* scopes("archive:delete  org:read")).toEqual({
            offered: ["org:read", "archive:delete"],
            ticked: ["org:read"]
          })
        }))

      it.effect("case 30: without a session a bad request leads to sign-in or a page, never to the application", () =>
        Effect.gen(function*() {
          const { application } = yield* stage()
          for (const [params] of wrong) {
            const checked = yield* check(query(application, challenge, params), null)
            expect([params, checked]).toEqual([params, { _tag: "SignIn", clientName: "An app" }])
          }
        }))

      it.effect("case 35, S5.2-16: scopes that were not asked for are not granted", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          yield* approve(application, admin, challenge, {
            params: { scope: "org:read archive:read" },
            scopes: ["org:read", "admins:write", "archive:delete"]
          })
          const [connection] = yield* connections(admin.organizationId)
          expect(connection?.scopes).toEqual(["org:read"])
        }))
    })
  })
})
