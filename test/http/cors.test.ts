import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

describe("browsers", () => {
  layer(World.world(postgres))((it) => {
    const exposed = [
      "Request-Id",
      "RateLimit-Limit",
      "RateLimit-Remaining",
      "RateLimit-Reset",
      "Retry-After",
      "WWW-Authenticate"
    ]
    const origin = "https://elsewhere.example"

    it.effect("S5.4-02: of every origin may ask, and get 204 to a preflight of any path under /v1", () =>
      Effect.gen(function*() {
        for (const path of [...all.map(({ path }) => path), "/v1/nothing", "/openapi.json"]) {
          const answer = yield* World.send("OPTIONS", path, {
            headers: {
              origin,
              "access-control-request-method": "PUT",
              "access-control-request-headers": "authorization,content-type"
            }
          })
          expect(answer.headers.get("request-id")).toMatch(/^req_/)
          expect([path, answer.status, answer.body]).toEqual([path, 204, undefined])
          expect(answer.headers.get("access-control-allow-origin")).toBe("*")
          expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
          expect(answer.headers.get("access-control-max-age")).toBe("86400")
          const methods = answer.headers.get("access-control-allow-methods")?.split(", ")
          for (const { method } of all) expect(methods).toContain(method)
          const headers = answer.headers.get("access-control-allow-headers")?.split(",")
          expect(headers).toEqual(expect.arrayContaining(["Authorization", "Content-Type"]))
        }
      }))

    it.effect("see every header that the service sends, on success and on every refusal", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const answers = [
          yield* World.send("GET", "/v1/organization", { key: admins.owner.key, headers: { origin } }),
          yield* World.send("GET", "/v1/organization", { headers: { origin } }),
          yield* World.send("GET", "/v1/organization?x", { key: admins.owner.key, headers: { origin } }),
          yield* World.send("GET", "/v1/nothing", { headers: { origin } }),
          yield* World.send("GET", "/openapi.json", { headers: { origin } })
        ]
        expect(answers.map(({ status }) => status)).toEqual([200, 401, 400, 404, 200])
        for (const { headers } of answers) {
          expect(headers.get("access-control-allow-origin")).toBe("*")
          const shown = headers.get("access-control-expose-headers")?.split(",") ?? []
          expect(shown).toEqual(expect.arrayContaining(exposed))
          for (const name of headers.keys()) {
            if (/^(?:request-id|ratelimit-|retry-after|www-auth)/.test(name)) {
              expect(shown.map((header) => header.toLowerCase())).toContain(name)
            }
          }
        }
      }))

    it.effect("are not invited where the interface is not", () =>
      Effect.gen(function*() {
        for (const path of ["/healthz", "/readyz", "/", "/v1", "/mcp"]) {
          const { headers } = yield* World.send("GET", path, { headers: { origin } })
          expect([path, [...headers.keys()].filter((name) => name.startsWith("access-control"))]).toEqual([path, []])
        }
      }))
  })
})
