import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Pages from "../support/http/pages.ts"
import { observed } from "../support/observed.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const wrongKey = "osc_live_0123456789abcdefghijklmnopqrstuvwxyz"

describe("what is recorded of a request", () => {
  layer(World.world(postgres))((it) => {
    it.effect("writes one line with the request's id, operation, organization and credential", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        const { answer, answered } = yield* observed(
          World.send("PUT", `/v1/accounts/${account}/role-label?secret=in-the-query`, {
            key: admins.owner.key,
            body: { role_label: "Pilot in the body" }
          })
        )
        expect(answer.status).toBe(400)
        expect(answered).toEqual([{
          level: "Info",
          message: "Request answered",
          fields: {
            request_id: answer.headers.get("request-id"),
            method: "PUT",
            route: "/v1/accounts/:account_id/role-label",
            operation: "set_account_role_label",
            via: "rest",
            status: 400,
            code: "parameter_invalid",
            organization_id: id,
            credential_kind: "api_key",
            credential_id: admins.owner.keyId,
            client_ip: null,
            duration_ms: 0
          }
        }])
        const text = JSON.stringify(answered)
        for (const secret of [Redacted.value(admins.owner.key), "in-the-query", "in the body", account]) {
          expect(text).not.toContain(secret)
        }
      }))

    it.effect("says of a request whose credential is unknown neither organization nor credential", () =>
      Effect.gen(function*() {
        const { answered, lines } = yield* observed(Effect.all([
          World.get("/v1/organization", wrongKey),
          World.send("GET", `/no/such/${wrongKey}`)
        ]))
        expect(answered.map(({ fields }) => [fields["route"], fields["code"], fields["organization_id"]])).toEqual([
          ["/v1/organization", "invalid_api_key", null],
          ["other", "resource_missing", null]
        ])
        expect(JSON.stringify(lines)).not.toContain(wrongKey)
      }))

    it.effect("writes no line where the log begins above it, and counts all the same", () =>
      Effect.gen(function*() {
        expect((yield* observed(World.get("/v1/organization", wrongKey), "Warn")).lines).toEqual([])
        expect((yield* observed(World.send("GET", "/healthz"), "Debug")).answered).toMatchObject([{ level: "Debug" }])
        const { lines, metrics } = yield* observed(World.send("GET", "/healthz"))
        expect(lines).toEqual([])
        expect(metrics).toContain("console_requests_total{operation=\"/healthz\",via=\"http\",code=\"200\"} 1")
      }))

    it.effect("counts requests by operation and code, and measures them by operation", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const reader = yield* World.makeKey(id, admins.owner.id, ["accounts:write"])
        const { metrics } = yield* observed(Effect.all([
          World.get("/v1/organization", admins.owner.key),
          World.get("/v1/organization", admins.owner.key),
          World.get("/v1/organization", reader.key),
          World.get("/v1/organization", wrongKey),
          World.get("/v1/nothing", admins.owner.key),
          World.get("/v1/more-nothing", admins.owner.key)
        ]))
        expect(metrics.filter((line) => line.startsWith("console_requests_total"))).toEqual([
          "console_requests_total{operation=\"get_organization\",via=\"rest\",code=\"200\"} 2",
          "console_requests_total{operation=\"get_organization\",via=\"rest\",code=\"insufficient_scope\"} 1",
          "console_requests_total{operation=\"get_organization\",via=\"rest\",code=\"invalid_api_key\"} 1",
          "console_requests_total{operation=\"other\",via=\"http\",code=\"resource_missing\"} 2"
        ])
        expect(metrics).toContain("console_request_seconds_count{operation=\"get_organization\",via=\"rest\"} 4")
        expect(metrics).toContain("console_requests_in_flight 0")
        expect(metrics).toContain("console_sign_in_failures_total{credential=\"api_key\"} 1")
      }))

    it.effect("counts a credential's refused requests, and wrong passwords", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { metrics } = yield* observed(Effect.gen(function*() {
          for (let sent = 0; sent < 122; sent++) yield* World.get("/v1/me/mail-preferences", admins.admin.key)
          const form = { organization: id, email: "nobody@example.com", password: "wrong" }
          const headers = { origin: World.baseUrl, "sec-fetch-site": "same-origin" }
          for (let sent = 0; sent < 8; sent++) yield* Pages.visit("POST", "/console/sign-in", { form, headers })
        }))
        expect(metrics).toContain("console_rate_refusals_total{limit=\"credential\"} 2")
        const refused = metrics.find((line) => line.startsWith("console_rate_refusals_total{limit=\"password\"}"))
        const wrong = metrics.find((line) => line.startsWith("console_sign_in_failures_total{credential=\"password\"}"))
        expect([refused, wrong].map((line) => Number(line?.split(" ")[1])).reduce((sum, count) => sum + count)).toBe(8)
      }))
  })
})
