import { describe, expect, it, layer } from "@effect/vitest"
import { Arbitrary, Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { Scope } from "../../src/domain/people/Access.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import { operations } from "../../src/operations/index.ts"
import { drawn } from "../support/drawn.ts"
import { ask, makeStage, naming, type Request } from "../support/http/requests.ts"
import { postgres } from "../support/postgres/database.ts"
import { changes } from "../support/random.ts"
import * as World from "../support/world.ts"
import { allowed, lines } from "./table.ts"

const path = "/v1/organization"

/** The six scopes of section 5.3. */
const scopes = [
  "archive:read",
  "org:read",
  "accounts:write",
  "security:write",
  "admins:write",
  "archive:delete"
] as const

describe("5 authentication", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S5-01: every operation without a credential answers 401 authentication_error, before anything else is looked at", () =>
      Effect.gen(function*() {
        const { every, organization } = yield* makeStage()
        const before = yield* World.snapshot(organization.id)
        const wrong = naming("malformed").map((request) => ({
          ...request,
          path: `${request.path}?unknown=1`,
          body: request.method === "GET" ? undefined : []
        }))
        for (const request of [...every, ...wrong]) {
          const { body, headers, status } = yield* ask(request)
          expect([request.id, status, body.error.type, body.error.code]).toEqual(
            [request.id, 401, "authentication_error", "invalid_api_key"]
          )
          expect(headers.get("www-authenticate")).toMatch(/^Bearer/)
          expect(headers.has("ratelimit-limit")).toBe(false)
        }
        expect(yield* World.snapshot(organization.id)).toEqual(before)
      }))

    it.effect("S5-01, S5.4-03: a key counts in the Authorization header alone, as one bearer token", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const key = Redacted.value(admins.owner.key)
        const send = (headers: Record<string, string>, query = "") => World.send("GET", `${path}${query}`, { headers })
        for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`]) {
          expect([authorization, (yield* send({ authorization })).status]).toEqual([authorization, 200])
        }
        const basic = Buffer.from(`${key}:`).toString("base64")
        for (
          const headers of [
            { authorization: key },
            { authorization: "Bearer" },
            { authorization: "Bearer " },
            { authorization: `Basic ${basic}` },
            { authorization: `Token ${key}` },
            { authorization: `Bearer${key}` },
            { authorization: `Bearer "${key}"` },
            { authorization: `Bearer ${key} ${key}` },
            { authorization: `Bearer ${key}, Bearer ${key}` },
            { authorization: `Bearer ${key},` },
            { "proxy-authorization": `Bearer ${key}` },
            { "x-api-key": key },
            { cookie: `authorization=Bearer ${key}; token=${key}; session=${key}` },
            { cookie: key }
          ]
        ) {
          expect([headers, ...World.refusal(yield* send(headers as Record<string, string>))]).toEqual([
            headers,
            401,
            "invalid_api_key"
          ])
        }
        for (const name of ["access_token", "api_key", "key", "token"]) {
          expect(World.refusal(yield* send({}, `?${name}=${key}`))).toEqual([401, "invalid_api_key"])
        }
      }))

    it.effect("S5.4-03: no answer sets a cookie, and a cookie beside a key changes nothing", () =>
      Effect.gen(function*() {
        const { every, organization } = yield* makeStage()
        const { key } = organization.admins.owner
        const plain = yield* World.get(path, key)
        const cookie = `session=${Redacted.value(organization.admins.billing.key)}`
        const beside = yield* World.send("GET", path, { key, headers: { cookie } })
        expect([beside.status, beside.body]).toEqual([200, plain.body])
        const answers = [
          ...(yield* Effect.forEach(every, (request) => ask(request, key))),
          ...(yield* Effect.forEach(every, (request) => ask(request))),
          ...(yield* Effect.forEach(naming("x"), (request) => ask(request, organization.admins.superadmin.key))),
          yield* World.send("GET", "/openapi.json"),
          yield* World.send("GET", "/nothing")
        ]
        for (const { headers } of answers) expect(headers.getSetCookie()).toEqual([])
      }))

    const Token = Arbitrary.map(
      Arbitrary.schema(Schema.String.check(Schema.isMaxLength(80))),
      (text) => text.replaceAll(/[^\x21-\x7e]/g, "") || "x"
    )

    it.effect.prop(
      "S5-02: whatever is no key of the service is refused as a token",
      [Token, Schema.Literals(["", "osc_live_", "osc_oat_", "Bearer"])],
      ([text, prefix]) =>
        Effect.gen(function*() {
          const answer = yield* World.get(path, prefix + text)
          expect(World.refusal(answer)).toEqual([401, "invalid_api_key"])
        }),
      drawn(150)
    )

    it.effect("S5-02: what the service keeps or shows of its credentials is no token, a Developer token's id among it", () =>
      Effect.gen(function*() {
        const organization = yield* World.makeOrganization()
        const { id, key, keyId } = organization.admins.owner
        const connection = crypto.randomUUID()
        yield* World.addRows("ai_connection", organization.id, [{
          id: connection,
          admin_id: id,
          kind: "token",
          label: "Developer token",
          mode: "cloud",
          scopes: Scope.literals,
          scope_type: "accounts",
          created_at: new Date(0)
        }])
        const [row] = yield* World.query<{ digest: string; pepper_id: string }>(
          organization.id,
          (sql) => sql`select * from api_key where organization_id = ${organization.id} and id = ${keyId}`
        )
        const text = Redacted.value(key)
        for (
          const token of [
            connection,
            id,
            keyId,
            organization.id,
            row!.digest,
            row!.pepper_id,
            text.slice(9),
            text.slice(0, 52),
            `osc_live_${row!.digest.slice(0, 49)}`
          ]
        ) {
          expect([token, ...World.refusal(yield* World.get(path, token))]).toEqual([token, 401, "invalid_api_key"])
        }
        expect((yield* World.get(path, key)).status).toBe(200)
      }))
  })
})

describe("5.3 scopes", () => {
  it("S5.3-01: the scopes are these six, and every operation and the document use no other", () => {
    expect(Scope.literals).toEqual(scopes)
    for (const { scope } of operations) expect(scopes).toContain(scope)
    const { components, paths } = JSON.parse(JSON.stringify(Documents.make()))
    expect(components.schemas.scope.enum).toEqual(scopes)
    for (const methods of Object.values<any>(paths)) {
      for (const entry of Object.values<any>(methods)) expect(scopes).toContain(entry["x-scope"])
    }
  })

  layer(World.world(postgres))((it) => {
    it.effect("S5.3-02, S5.3-06, S5.3-08, S7-07, S7-12, S8-09: each operation passes with its scope alone, a day after that was granted, and with the five others, together or one alone, it is told which is missing", () =>
      Effect.gen(function*() {
        const { every, organization, ready } = yield* makeStage()
        const { id } = organization.admins.owner
        const keys = yield* Effect.forEach(scopes, (scope) => World.makeKey(organization.id, id, [scope]))
        const others = yield* Effect.forEach(
          scopes,
          (scope) => World.makeKey(organization.id, id, scopes.filter((other) => other !== scope))
        )
        const none = yield* World.makeKey(organization.id, id, [])
        const wantedOf = (request: Request) => lines.find(([id]) => id === request.id)![3]
        const before = yield* World.snapshot(organization.id)
        for (const [turn, request] of every.entries()) {
          const wanted = wantedOf(request)
          const place = scopes.indexOf(wanted)
          // Each of the five others alone in its turn: none of them can be enough where all together are not.
          const alone = keys[(place + 1 + turn % (scopes.length - 1)) % scopes.length]!
          for (const { key } of [alone, others[place]!, none]) {
            const answer = yield* ask(request, key)
            expect([request.id, answer.body.error?.type, ...World.refusal(answer)]).toEqual(
              [request.id, "permission_error", 403, "insufficient_scope"]
            )
            expect(answer.body.error.message).toContain(wanted)
            expect(answer.headers.get("www-authenticate")).toBe(
              `Bearer error="insufficient_scope", scope="${wanted}"`
            )
          }
        }
        expect(yield* World.snapshot(organization.id)).toEqual(before)
        yield* TestClock.adjust("1 day")
        for (const { id, request: prepared } of ready(organization.admins.owner)) {
          const request = yield* prepared
          const answer = yield* ask(request, keys[scopes.indexOf(wantedOf(request))]!.key)
          expect([id, ...World.refusal(answer)]).toEqual([id, 200, undefined])
        }
      }))

    it.effect("S5.3-02: a scope that is taken from a credential is missing at the next request", () =>
      Effect.gen(function*() {
        const organization = yield* World.makeOrganization()
        const { key, keyId } = organization.admins.owner
        const grant = (granted: ReadonlyArray<string>) =>
          World.set(organization.id, "api_key", keyId, { scopes: granted })
        expect((yield* World.get(path, key)).status).toBe(200)
        yield* grant(scopes.filter((scope) => scope !== "org:read"))
        expect(World.refusal(yield* World.get(path, key))).toEqual([403, "insufficient_scope"])
        yield* grant(["org:read"])
        expect((yield* World.get(path, key)).status).toBe(200)
      }))

    it.effect("S5.3-10, S5.3-11: with accounts:write the billing role sets its own mail preferences and asks the support, and changes nothing else", () =>
      Effect.gen(function*() {
        const { account, department, every, organization } = yield* makeStage()
        const { id } = organization.admins.billing
        yield* World.grant(organization.id, id, { accounts: [account.id], departments: [department] })
        const { key } = yield* World.makeKey(organization.id, id, ["accounts:write"])
        for (const request of every.filter(({ operation }) => changes(operation))) {
          const before = yield* World.snapshot(organization.id)
          const answer = yield* ask(request, key)
          if (allowed(request.id, "billing") === "ok" && request.operation.scope === "accounts:write") {
            expect(["set_mail_preferences", "create_support_request"]).toContain(request.id)
            expect(answer.status).toBe(200)
            const [entry] = (yield* World.journal(organization.id)).slice(-1)
            expect(entry).toMatchObject(
              request.id === "set_mail_preferences"
                ? { actor_admin_id: id, target_type: "admin", target_id: id }
                : { actor_admin_id: id, target_type: "support_request" }
            )
          } else {
            const code = request.operation.scope === "accounts:write"
              ? allowed(request.id, "billing")
              : "insufficient_scope"
            expect([request.id, ...World.refusal(answer)]).toEqual([request.id, 403, code])
            expect(yield* World.snapshot(organization.id)).toEqual(before)
          }
        }
      }))
  })
})

describe("5.4 other access rules", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S5.4-02: every origin may read every answer, refusals too, with the headers it needs and without credentials of the browser", () =>
      Effect.gen(function*() {
        const { every, organization } = yield* makeStage()
        const { key } = organization.admins.owner
        for (const origin of ["https://app.example", "http://localhost:5173", "null"]) {
          yield* TestClock.adjust("1 minute")
          const cases = [...every.map((request) => ({ ...request, key })), ...every, {
            method: "GET",
            path: "/v1/nothing",
            key
          }]
          for (
            const { method, path, key } of cases as ReadonlyArray<
              { method: string; path: string; key?: Redacted.Redacted }
            >
          ) {
            const { headers } = yield* World.send(method, path, {
              headers: { origin },
              ...(key === undefined ? {} : { key })
            })
            expect([path, headers.get("access-control-allow-origin")]).toEqual([path, "*"])
            expect(headers.has("access-control-allow-credentials")).toBe(false)
            const exposed = headers.get("access-control-expose-headers")!.toLowerCase().split(/, ?/)
            expect(exposed).toEqual(
              expect.arrayContaining([
                "request-id",
                "retry-after",
                "www-authenticate",
                "ratelimit-limit",
                "ratelimit-remaining",
                "ratelimit-reset"
              ])
            )
          }
        }
      }))

    it.effect("S5.4-02: a browser is let through its preflight to every operation, without a credential", () =>
      Effect.gen(function*() {
        for (const { method, path } of naming(crypto.randomUUID())) {
          const { headers, status } = yield* World.send("OPTIONS", path, {
            headers: {
              origin: "https://app.example",
              "access-control-request-method": method,
              "access-control-request-headers": "authorization, content-type"
            }
          })
          expect([path, status, headers.get("access-control-allow-origin")]).toEqual([path, 204, "*"])
          expect(headers.get("access-control-allow-methods")!.split(/, ?/)).toContain(method)
          const allowed = headers.get("access-control-allow-headers")!.toLowerCase().split(/, ?/)
          expect(allowed).toEqual(expect.arrayContaining(["authorization", "content-type"]))
        }
      }))
  })
})
