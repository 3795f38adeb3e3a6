import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Scope } from "../../src/domain/people/Access.ts"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import { KnownAssistants } from "../../src/ports/oauth/OAuthPorts.ts"
import type { SignedIn } from "../../src/ports/signin/ConsoleSessions.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { challenge, check, error, ready, reportedBy } from "./authorizing.ts"
import {
  type Application,
  approve,
  callback,
  challengeOf,
  connections,
  makeVerifier,
  password,
  query,
  registerApplication,
  signIn,
  stage
} from "./support.ts"

describe("OAuth authorization", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
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

      it.effect("case 38: no scope is nothing granted, and a denial is reported to the application", () =>
        Effect.gen(function*() {
          const { admin, application } = yield* stage()
          const failure = yield* Effect.flip(approve(application, admin, challenge, { scopes: [] }))
          expect(failure._tag).toBe("NothingChosen")
          const request = ready(yield* check(query(application, challenge), admin))
          expect(reportedBy({ _tag: "Redirect", location: Authorize.deny(request) })).toEqual(error("access_denied"))
          expect(yield* connections(admin.organizationId)).toEqual([])
          expect(yield* World.changes(admin.organizationId)).toEqual([])
        }))

      it.effect("case 39: accounts and departments that the admin cannot access are refused, whosever they are", () =>
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
            expect([id, yield* ask(admin, "accounts", [id])]).toEqual([id, "NotAccessible"])
            expect([id, yield* ask(admin, "accounts", [mine, id])]).toEqual([id, "NotAccessible"])
          }
          for (const id of [department, foreignDepartment, mine]) {
            expect([id, yield* ask(admin, "departments", [id])]).toEqual([id, "NotAccessible"])
          }
          for (const id of [foreign, department]) expect(yield* ask(owner, "accounts", [id])).toBe("NotAccessible")
          expect(yield* ask(owner, "departments", [foreignDepartment])).toBe("NotAccessible")
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
            expect(yield* ask(admin, "departments", ids)).toBe("NotAccessible")
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
                password: Redacted.make(""),
                archive: null
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
