import { describe, expect, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import type { SignedIn } from "../../src/console/ConsoleSessions.ts"
import { Scope } from "../../src/domain/Access.ts"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import { KnownAssistants } from "../../src/oauth/Ports.ts"
import { forEachDatabase } from "../support/database.ts"
import * as World from "../support/world.ts"
import {
  type Application,
  approve,
  callback,
  challengeOf,
  connections,
  issuer,
  makeVerifier,
  mcp,
  password,
  query,
  registerApplication,
  signIn,
  stage,
  v1
} from "./support.ts"

const challenge = challengeOf("verifier")

const check = (text: string, admin: SignedIn | null) => Authorize.check(text, issuer, Option.fromNullOr(admin))

/** What the application is told: the error, the state and the issuer, in the query of its own address. */
const told = (checked: Authorize.Checked, uri = callback) => {
  if (checked._tag !== "Redirect") return checked
  expect(checked.location.startsWith(`${uri}?`)).toBe(true)
  const location = new URL(checked.location)
  expect(location.hash).toBe("")
  expect(location.searchParams.get("error_description")).not.toBe("")
  return [location.searchParams.get("error"), location.searchParams.get("state"), location.searchParams.get("iss")]
}

const error = (code: string) => [code, "a state", World.baseUrl]

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

const ready = (checked: Authorize.Checked) => {
  if (checked._tag !== "Ready") throw new Error(JSON.stringify(checked))
  return checked.request
}

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

      it.effect("cases 23 to 29, S5.2-02: whatever else is wrong is told to the application, with state and iss", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          for (const [params, code] of wrong) {
            const checked = yield* check(query(application, challenge, params), admin)
            expect([params, told(checked)]).toEqual([params, error(code)])
          }
          const twice = yield* check(query(application, challenge, { state: ["one", "two"] }), admin)
          expect(told(twice)).toEqual(["invalid_request", null, World.baseUrl])
          const without = yield* check(query(application, challenge, { state: undefined, resource: "x" }), admin)
          expect(told(without)).toEqual(["invalid_target", null, World.baseUrl])
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

      it.effect("case 36, S5.2-17: a scope that writes needs the password: without it no code and no connection, and the failure counts", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          for (const scope of Scope.literals.filter((scope) => !scope.endsWith(":read"))) {
            const failure = yield* Effect.flip(
              approve(application, admin, challenge, { params: { scope: `org:read ${scope}` } }, "wrong")
            )
            expect([scope, failure._tag]).toEqual([scope, "password_incorrect"])
          }
          const empty = yield* Effect.flip(
            approve(application, admin, challenge, { params: { scope: "accounts:write" } }, "")
          )
          expect(empty._tag).toBe("password_incorrect")
          const attempts = yield* Effect.forEach(
            Array.from({ length: 3 }),
            () => Effect.flip(approve(application, admin, challenge, { params: { scope: "accounts:write" } }, "wrong"))
          )
          expect(attempts.at(-1)?._tag).toBe("too_many_attempts")
          expect(yield* connections(admin.organizationId)).toEqual([])
        }))

      it.effect("case 36: with the right password there is a code", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const { code } = yield* approve(
            application,
            admin,
            challenge,
            { params: { scope: "org:read accounts:write" } },
            password
          )
          expect(code).toMatch(/^osc_oac_[0-9A-Za-z]{49}$/)
        }))

      it.effect("case 37: the two scopes that read need no password", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const params = { scope: "archive:read org:read accounts:write" }
          yield* approve(application, admin, challenge, { params, scopes: ["archive:read", "org:read"] }, "wrong")
          expect((yield* connections(admin.organizationId)).map(({ scopes }) => scopes)).toEqual([
            ["archive:read", "org:read"]
          ])
        }))

      it.effect("case 38: no scope is nothing granted, and a denial tells the application so", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const failure = yield* Effect.flip(approve(application, admin, challenge, { scopes: [] }))
          expect(failure._tag).toBe("NothingChosen")
          const request = ready(yield* check(query(application, challenge), admin))
          expect(told({ _tag: "Redirect", location: Authorize.deny(request) })).toEqual(error("access_denied"))
          expect(yield* connections(admin.organizationId)).toEqual([])
          expect(yield* World.changes(admin.organizationId)).toEqual([])
        }))

      it.effect("case 39: accounts and departments that the admin does not reach are refused, whosever they are", () =>
        Effect.gen(function*() {
          const { organization, admin: owner, application } = yield* stage()
          const other = yield* World.makeOrganization()
          const department = yield* World.makeDepartment(organization.id)
          const [mine, hidden] = [yield* World.makeAccount(organization.id), yield* World.makeAccount(organization.id)]
          const filed = yield* World.makeAccount(organization.id, { facts: { department_id: department } })
          const foreign = yield* World.makeAccount(other.id)
          const foreignDepartment = yield* World.makeDepartment(other.id)
          const admin = yield* signIn(organization.id, organization.admins.admin.id)
          yield* World.grant(organization.id, admin.adminId, { accounts: [mine] })
          const ask = (who: SignedIn, scopeType: "accounts" | "departments", ids: ReadonlyArray<string>) =>
            Effect.match(approve(application, who, challenge, { scopeType, ids }), {
              onSuccess: () => "granted",
              onFailure: ({ _tag }) => _tag
            })
          for (const id of [hidden, filed, foreign, crypto.randomUUID(), "nothing", "' or true --"]) {
            expect([id, yield* ask(admin, "accounts", [id])]).toEqual([id, "OutOfReach"])
            expect([id, yield* ask(admin, "accounts", [mine, id])]).toEqual([id, "OutOfReach"])
          }
          for (const id of [department, foreignDepartment, mine]) {
            expect([id, yield* ask(admin, "departments", [id])]).toEqual([id, "OutOfReach"])
          }
          for (const id of [foreign, department]) expect(yield* ask(owner, "accounts", [id])).toBe("OutOfReach")
          expect(yield* ask(owner, "departments", [foreignDepartment])).toBe("OutOfReach")
          expect(yield* connections(organization.id)).toEqual([])
          expect(yield* ask(admin, "accounts", [mine, mine])).toBe("granted")
          yield* World.grant(organization.id, admin.adminId, { departments: [department] })
          expect(yield* ask(admin, "departments", [department])).toBe("granted")
          expect(yield* ask(admin, "accounts", [mine, filed])).toBe("granted")
          expect(yield* ask(owner, "accounts", [mine, hidden, filed])).toBe("granted")
          const nothing = { find: "", ticked: [] }
          const wanted = { accounts: nothing, departments: nothing }
          expect((yield* Authorize.choices(admin, wanted)).accounts.found.map(({ id }) => id).toSorted()).toEqual(
            [mine, filed].toSorted()
          )
          expect((yield* Authorize.choices(owner, wanted)).departments.found.map(({ id }) => id)).toEqual([department])
          const another = yield* World.makeDepartment(organization.id)
          for (const ids of [[another], [department, another]]) {
            expect(yield* ask(admin, "departments", ids)).toBe("OutOfReach")
          }
        }))

      it.effect("case 40: success is a code with state and iss, a connection with its client, and an entry of the journal", () =>
        Effect.gen(function*() {
          const { admin, organization } = yield* stage()
          const account = yield* World.makeAccount(organization.id)
          const application = yield* registerApplication({ client_name: "<b>Assistant</b>" })
          const { code, location } = yield* approve(application, admin, challenge, { ids: [account] })
          expect(location.origin + location.pathname).toBe(callback)
          expect(Object.fromEntries(location.searchParams)).toEqual({ code, state: "a state", iss: World.baseUrl })
          const [connection] = yield* connections(organization.id)
          expect(connection).toMatchObject({
            kind: "oauth",
            label: "<b>Assistant</b>",
            client_name: "<b>Assistant</b>",
            client_host: "app.example",
            client_known: null,
            scopes: ["org:read"],
            scope_type: "accounts",
            account_ids: [account],
            department_ids: [],
            admin_id: admin.adminId,
            revoked_at: null
          })
          expect(yield* World.changes(organization.id)).toMatchObject([{
            action: "oauth.connected",
            outcome: "done",
            actor_type: "admin",
            actor_admin_id: admin.adminId,
            credential_kind: "console",
            credential_id: admin.sessionId,
            via: "console",
            target_type: "ai_connection",
            target_id: connection?.id,
            request_id: "req_test",
            details: {
              client_name: "<b>Assistant</b>",
              client_host: "app.example",
              resource: "v1",
              scopes: "org:read",
              accounts: 1
            }
          }])
          const listed = yield* World.get("/v1/ai-connections", organization.admins.owner.key)
          expect(listed.body.connections).toMatchObject([{
            id: connection?.id,
            client: { name: "<b>Assistant</b>", host: "app.example", known: null },
            mine: true
          }])
        }))

      it.effect("case 40, S2.8-04: an assistant is known by the whole address that its code goes to", () =>
        Effect.gen(function*() {
          const { admin, organization } = yield* stage()
          const known = new Map([["https://assistant.example/mcp/callback", "assistant_a"] as const])
          const connect = Effect.fnUntraced(function*(uri: string) {
            const application: Application = yield* registerApplication({ redirect_uris: [uri] })
            yield* approve(application, admin, challenge, { params: { redirect_uri: uri } })
          })
          for (
            const uri of [
              "https://assistant.example/mcp/callback",
              "https://assistant.example/mcp/callback/",
              "https://assistant.example/mcp/callback?x=1",
              "https://assistant.example/other",
              "https://evil.example/mcp/callback"
            ]
          ) yield* connect(uri).pipe(Effect.provideService(KnownAssistants, known))
          expect((yield* connections(organization.id)).map(({ client_known }) => client_known)).toEqual([
            "assistant_a",
            null,
            null,
            null,
            null
          ])
        }))

      it.effect("case 41: an admin who was disabled between the page and the answer gets no code", () =>
        Effect.gen(function*() {
          const { admin, application, organization } = yield* stage()
          const request = ready(yield* check(query(application, challengeOf(makeVerifier())), admin))
          yield* World.set(organization.id, "admin", admin.adminId, { disabled_at: new Date(0) })
          const failure = yield* Effect.flip(
            Authorize.grant(
              request,
              admin,
              {
                scopes: ["org:read"],
                replaces: [],
                scopeType: "accounts",
                everything: false,
                ids: [],
                password: Redacted.make("")
              },
              { ip: null, requestId: null }
            )
          )
          expect(failure._tag).toBe("AdminGone")
          expect(yield* connections(organization.id)).toEqual([])
          expect(yield* World.changes(organization.id)).toEqual([])
        }))
    })
  })
})
