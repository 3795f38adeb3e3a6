import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { silentLogins } from "../support/messenger/silentSession.ts"
import { forEachDatabase, postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

const metadata = (baseUrl: string) => `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp"`

const owner = Effect.map(World.makeOrganization(), ({ admins, id }) => ({ id, key: admins.owner.key, admins }))

const ping = (id: number | string = 1) => Mcp.legacy("ping", {}, id)

const code = ({ body, status }: Mcp.Answer) => [status, body.error?.code]

const left = ({ headers }: { readonly headers: Headers }) => headers.get("ratelimit-remaining")

describe("MCP over HTTP", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S5.2-18: without a valid token answers 401 and where to get one, whatever is asked", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        for (const method of ["POST", "GET", "DELETE"]) {
          for (const given of [undefined, "", "nonsense", "osc_live_nonsense"]) {
            const answer = yield* Mcp.send({
              method,
              ...(given === undefined ? {} : { key: given }),
              ...(method === "POST" ? { body: ping() } : {})
            })
            expect([method, given, ...code(answer)]).toEqual([method, given, 401, "invalid_api_key"])
            expect(answer.headers.get("www-authenticate")).toBe(metadata(World.baseUrl))
          }
        }
        expect((yield* Mcp.send({ key, body: ping() })).status).toBe(200)
      }))

    it.effect("answers 403 with the scope that a call lacks, as REST does, in every element of a batch", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* owner
        const account = yield* World.makeAccount(id)
        const { key } = yield* World.makeKey(id, admins.owner.id, ["org:read"])
        const args = { account_id: account }
        const rest = yield* World.post(`/v1/accounts/${account}/pause`, key)
        const pause = Mcp.legacy("tools/call", { name: "pause_protection", arguments: args }, 2)
        for (
          const answer of [
            yield* Mcp.call("pause_protection", args, { key }),
            yield* Mcp.send({ key, body: pause }),
            yield* Mcp.send({ key, body: [ping(), pause] })
          ]
        ) {
          expect([answer.status, answer.body]).toEqual([rest.status, rest.body])
          expect(answer.headers.get("www-authenticate")).toBe(
            "Bearer error=\"insufficient_scope\", scope=\"accounts:write\""
          )
        }
        expect(yield* World.journal(id)).toEqual([])
      }))

    it.effect("answers a call in every revision with the same result", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        const params = { name: "get_organization", arguments: {} }
        const { structuredContent } = (yield* Mcp.call(params.name, {}, { key })).body.result
        for (const version of [undefined, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
          const { body, status } = yield* Mcp.send({
            key,
            body: Mcp.legacy("tools/call", params, "an id"),
            headers: version === undefined ? {} : { "mcp-protocol-version": version }
          })
          expect([version, status, body.id, body.result.structuredContent])
            .toEqual([version, 200, "an id", structuredContent])
        }
      }))

    it.effect("S1-13: agrees on the revision that a client asks for, and tells it to have what is destructive confirmed", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        for (const protocolVersion of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
          const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } }
          const { body, headers } = yield* Mcp.send({ key, body: Mcp.legacy("initialize", params) })
          expect(body.result).toMatchObject({ protocolVersion, capabilities: { tools: {} } })
          expect(body.result.instructions).toMatch(/destructive.*show .* what .* which account, and get confirmation/)
          expect(headers.get("mcp-session-id")).toBeNull()
        }
      }))

    it.effect("answers an unknown tool with -32602, and a body that is no JSON with 400 and -32700", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        for (const name of ["no_such_tool", "constructor", "__proto__", ""]) {
          const { body } = yield* Mcp.send({ key, body: Mcp.legacy("tools/call", { name }) })
          expect([name, body.error.code]).toEqual([name, -32_602])
          expect((yield* Mcp.call(name, {}, { key })).body.error.code).toBe(-32_602)
        }
        const twice = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/list\"}"
        for (const raw of ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1", twice]) {
          const answer = yield* Mcp.send({ key, raw })
          expect([raw, answer.status, answer.body]).toMatchObject([raw, 400, {
            jsonrpc: "2.0",
            id: null,
            error: { code: -32_700 }
          }])
        }
        const large = yield* Mcp.send({ key, raw: JSON.stringify(" ".repeat(70_000)) })
        expect([...code(large), large.body.error.param]).toEqual([400, "parameter_invalid", "body"])
      }))

    it.effect("has no sessions to open or to end", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        for (const method of ["GET", "DELETE", "PUT", "TRACE", "QUERY"]) {
          const answer = yield* Mcp.send({ key, method })
          expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "POST"])
        }
        expect((yield* Mcp.send({ key, body: { jsonrpc: "2.0", method: "notifications/initialized" } })).status)
          .toBe(202)
      }))

    it.effect("S4-02: gives every answer a Request-Id of its own, and the journal keeps it", () =>
      Effect.gen(function*() {
        const { id, key } = yield* owner
        const account = yield* World.makeAccount(id)
        const pause = yield* Mcp.call("pause_protection", { account_id: account }, { key })
        const answers = [
          pause,
          yield* Mcp.call("pause_protection", { account_id: account }, { key }),
          yield* Mcp.send({ key, body: ping() }),
          yield* Mcp.send({ body: ping() }),
          yield* Mcp.send({ key, raw: "{" }),
          yield* Mcp.send({ key, method: "GET" }),
          yield* Mcp.send({ method: "OPTIONS" }),
          yield* Mcp.send({ key, body: ping(), host: "elsewhere.test" }),
          yield* Mcp.send({ key, body: ping(), headers: { origin: "null" }, options: { allowedOrigins: [] } })
        ]
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 401, 400, 405, 204, 404, 403])
        const requestIds = answers.map(({ headers }) => headers.get("request-id"))
        for (const requestId of requestIds) expect(requestId).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
        expect(new Set(requestIds).size).toBe(answers.length)
        for (const { headers } of answers) expect(headers.get("x-content-type-options")).toBe("nosniff")
        const events = yield* World.journal(id)
        expect(events.map(({ action, request_id, via }) => [action, via, request_id]))
          .toEqual([["account.paused", "mcp", pause.headers.get("request-id")]])
      }))

    it.effect("S6-01: journals what a tool changes as the acting admin's, by its credential, via mcp", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* owner
        const person = admins.superadmin
        yield* Mcp.call("set_notification_recipients", { recipients: "owner_superadmins" }, { key: person.key })
        const [event] = yield* World.journal(id)
        expect(event).toMatchObject({
          action: "notification_recipients.set",
          via: "mcp",
          actor_admin_id: person.id,
          credential_kind: "api_key",
          credential_id: person.keyId
        })
      }))

    it.effect(
      "interrupts a call whose request is given up, in every revision, and what it had not done is not done",
      () =>
        Effect.gen(function*() {
          const { id, key } = yield* owner
          const account = yield* World.makeLiveAccount(id)
          const name = "set_messenger_username"
          const args = { account_id: account.id, username: "another_name" }
          const asks = [
            (signal: AbortSignal) => Mcp.call(name, args, { key, signal }),
            (signal: AbortSignal) =>
              Mcp.send({ key, signal, body: Mcp.legacy("tools/call", { name, arguments: args }) })
          ]
          for (const ask of asks) {
            const started = yield* Deferred.make<void>()
            const ended = yield* Deferred.make<void>()
            const open = () =>
              Effect.onInterrupt(
                Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
                () => Deferred.succeed(ended, undefined)
              )
            const controller = new AbortController()
            yield* ask(controller.signal).pipe(
              Effect.provideService(MessengerSession, { ...silentLogins, open }),
              Effect.ignoreCause,
              Effect.forkScoped
            )
            yield* Deferred.await(started)
            controller.abort()
            yield* Deferred.await(ended)
          }
          expect(yield* World.journal(id)).toEqual([])
        }),
      20_000
    )

    it.effect("answers browsers of every origin, and of some alone where that is set", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        const origin = "https://assistant.example"
        const preflight = yield* Mcp.send({
          method: "OPTIONS",
          headers: { origin, "access-control-request-headers": "authorization,mcp-protocol-version,mcp-param-x" }
        })
        expect([preflight.status, preflight.text]).toEqual([204, ""])
        expect(preflight.headers.get("access-control-allow-headers"))
          .toBe("authorization,mcp-protocol-version,mcp-param-x")
        for (
          const answer of [
            preflight,
            yield* Mcp.send({ key, body: ping(), headers: { origin } }),
            yield* Mcp.send({ body: ping(), headers: { origin } })
          ]
        ) {
          expect(answer.headers.get("access-control-allow-origin")).toBe("*")
          expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
          expect(answer.headers.get("access-control-expose-headers")?.split(",")).toEqual([
            "Request-Id",
            "RateLimit-Limit",
            "RateLimit-Remaining",
            "RateLimit-Reset",
            "Retry-After",
            "WWW-Authenticate"
          ])
        }
        const options = { allowedOrigins: [origin] }
        const asked = { key, body: ping(), options }
        const allowed = yield* Mcp.send({ ...asked, headers: { origin } })
        expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([200, origin])
        expect((yield* Mcp.send(asked)).status).toBe(200)
        for (const other of ["https://assistant.example.evil", "http://assistant.example", "null"]) {
          const refused = yield* Mcp.send({ ...asked, headers: { origin: other } })
          expect([other, refused.status, refused.headers.get("access-control-allow-origin"), left(refused)])
            .toEqual([other, 403, null, null])
        }
      }))
  })

  const acme = OrganizationId.make("t-acme")
  layer(World.world(postgres, [
    { baseUrl: World.baseUrl, organizationId: null },
    { baseUrl: "https://acme.test/console", organizationId: acme }
  ]))("at an organization's own address", (it) => {
    it.effect("knows that organization's credentials alone, and names itself in what it answers", () =>
      Effect.gen(function*() {
        const { key } = yield* owner
        const answer = yield* Mcp.send({ key, body: ping(), host: "acme.test" })
        expect(code(answer)).toEqual([401, "invalid_api_key"])
        expect(answer.headers.get("www-authenticate")).toBe(metadata("https://acme.test/console"))
        expect((yield* Mcp.send({ key, body: ping() })).status).toBe(200)
        expect(code(yield* Mcp.send({ key, body: ping(), host: "elsewhere.test" }))).toEqual([404, "resource_missing"])
      }))
  })

  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S8-02: shares one budget with REST: every message with an id costs one, a call no more", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const { key } = yield* owner
          const spent: Array<string | null> = []
          const note = (answer: { readonly headers: Headers }) => void spent.push(left(answer))
          note(yield* World.get("/v1/organization", key))
          note(yield* Mcp.send({ key, body: ping() }))
          note(yield* Mcp.call("get_organization", {}, { key }))
          note(yield* Mcp.call("get_organization", { unknown: 1 }, { key }))
          note(yield* Mcp.ask("tools/list", {}, { key }))
          note(yield* Mcp.call("nothing", {}, { key }))
          note(yield* Mcp.send({ key, body: Mcp.legacy("initialize") }))
          note(yield* Mcp.send({ key, raw: "{" }))
          const organization = Mcp.legacy("tools/call", { name: "get_organization" }, 3)
          const batch = yield* Mcp.send({
            key,
            body: [ping(1), ping(2), organization, { jsonrpc: "2.0", method: "notifications/initialized" }]
          })
          expect(batch.messages.map(({ id }) => id).sort()).toEqual([1, 2, 3])
          note(batch)
          note(yield* World.get("/v1/organization", key))
          expect(spent).toEqual(["119", "118", "117", "116", "115", "114", "113", "112", "109", "108"])
        }))

      it.effect("S8-01: whatever a credential asks of /mcp costs one, and is 429 once the budget is spent", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const { key } = yield* owner
          const notification = { jsonrpc: "2.0", method: "notifications/initialized" }
          const requests: ReadonlyArray<readonly [number, Mcp.Asking]> = [
            [202, { body: notification }],
            [202, { body: [notification, notification] }],
            [400, { body: [] }],
            [400, { body: ping(), path: "/mcp?toolsets=nothing" }],
            ...["GET", "DELETE", "PUT", "TRACE", "QUERY"].map((method) => [405, { method }] as const)
          ]
          let spent = 0
          for (const [status, asking] of requests) {
            expect([asking, (yield* Mcp.send({ key, ...asking })).status]).toEqual([asking, status])
            spent += 1
          }
          const answer = yield* Mcp.send({ key, method: "GET" })
          expect([answer.status, left(answer)]).toEqual([405, String(120 - spent - 1)])
          for (let left = 120 - spent - 1; left > 0; left--) yield* Mcp.send({ key, body: notification })
          for (const [, asking] of requests) {
            const refused = yield* Mcp.send({ key, ...asking })
            expect([asking, refused.status, refused.headers.get("retry-after")]).toEqual([asking, 429, "60"])
          }
        }))

      it.effect("S8-02, S8-03: answers 429 with the wait once either way has spent it, and again after the wait", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const { key } = yield* owner
          for (let hit = 0; hit < 60; hit++) {
            expect((yield* World.get("/v1/organization", key)).status).toBe(200)
            expect((yield* Mcp.send({ key, body: ping() })).status).toBe(200)
          }
          const rest = yield* World.get("/v1/organization", key)
          const organization = Mcp.legacy("tools/call", { name: "get_organization" })
          for (
            const answer of [
              yield* Mcp.send({ key, body: ping() }),
              yield* Mcp.send({ key, body: organization }),
              yield* Mcp.call("get_organization", {}, { key }),
              yield* Mcp.ask("tools/list", {}, { key }),
              yield* Mcp.send({ key, body: [organization] }),
              yield* Mcp.send({ key, raw: "{" })
            ]
          ) {
            expect([answer.status, answer.body]).toEqual([429, rest.body])
            expect(answer.headers.get("retry-after")).toBe(rest.headers.get("retry-after"))
          }
          yield* TestClock.adjust("60 seconds")
          expect((yield* Mcp.send({ key, body: ping() })).status).toBe(200)
        }))

      it.effect("runs nothing of a batch that the budget is too small for", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const { id, key } = yield* owner
          const account = yield* World.makeAccount(id)
          const pause = Mcp.legacy("tools/call", { name: "pause_protection", arguments: { account_id: account } }, 0)
          const batch = [pause, ...Array.from({ length: 120 }, (_, index) => ping(index + 1))]
          expect((yield* Mcp.send({ key, body: batch })).status).toBe(429)
          expect(yield* World.journal(id)).toEqual([])
        }))
    })
  })
})
