import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { OAuthSecrets } from "../../src/ports/oauth/OAuthPorts.ts"
import * as Mcp from "../mcp/support.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { connected, invalidToken, mcp, ok, redeemWith, revokeWith, stage, tokens, use } from "./support.ts"

const challenge = `Bearer resource_metadata="${World.baseUrl}/.well-known/oauth-protected-resource/mcp"`

/** A call of a tool with the credential, in the newest revision. */
const call = (key: Redacted.Redacted | string) => Mcp.call("get_organization", {}, { key })

/** The status of a call of a tool with the credential, and the code of its refusal. */
const useAtMcp = (key: Redacted.Redacted | string) =>
  Effect.map(call(key), ({ body, status }) => [status, body.error?.code])

/** How the credential is answered at `/v1` and at `/mcp`. */
const both = Effect.fnUntraced(function*(key: Redacted.Redacted | string) {
  const rest = yield* World.get("/v1/organization", key)
  return [rest.status, (yield* call(key)).status]
})

const works = [200, 200]
const refused = [401, 401]

/** An organization with a connection to each of the two resources. */
const connectedToBoth = Effect.gen(function*() {
  const made = yield* connected()
  const granted = yield* made.connect({ params: { resource: mcp } })
  return { ...made, granted, forMcp: tokens(yield* redeemWith(granted)), forV1: made.tokens }
})

describe("the two resources, REST and MCP", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 5, S5.2-18: a POST to /mcp without a token is answered 401, and where to get one", () =>
        Effect.gen(function*() {
          for (const body of [Mcp.message("tools/list"), Mcp.legacy("initialize"), Mcp.legacy("ping")]) {
            const { headers, status } = yield* Mcp.send({ body })
            expect([status, headers.get("www-authenticate")]).toEqual([401, challenge])
          }
        }))

      it.effect("case 6: an expired, a garbage, a revoked and the other resource's token are answered as none at /mcp", () =>
        Effect.gen(function*() {
          const { application, connect, forMcp: revoked } = yield* connectedToBoth
          const atMcp = { params: { resource: mcp } }
          const expired = tokens(yield* redeemWith(yield* connect(atMcp)))
          for (const { access_token } of [revoked, expired]) expect(yield* useAtMcp(access_token)).toEqual(ok)
          yield* TestClock.adjust(Duration.toMillis("1 hour") - 1)
          expect(yield* useAtMcp(expired.access_token)).toEqual(ok)
          yield* TestClock.adjust("1 millis")
          const fresh = yield* stage()
          const wrong = tokens(yield* redeemWith(yield* fresh.connect()))
          const live = tokens(yield* redeemWith(yield* fresh.connect(atMcp)))
          expect(yield* useAtMcp(live.access_token)).toEqual(ok)
          yield* revokeWith(fresh.application, live.access_token)
          yield* revokeWith(application, revoked.refresh_token)
          const other = yield* stage()
          const kept = tokens(yield* redeemWith(yield* other.connect(atMcp)))
          expect(yield* useAtMcp(kept.access_token)).toEqual(ok)
          yield* World.query(other.organization.id, (sql) =>
            sql`update ai_connection set revoked_at = created_at
              where organization_id = ${other.organization.id} returning id`)
          const unknown = Redacted.value(yield* (yield* OAuthSecrets).make("access"))
          const refusals: ReadonlyArray<readonly [what: string, token: string, code: string]> = [
            ["expired", expired.access_token, "invalid_token"],
            ["never issued", unknown, "invalid_token"],
            ["garbage", "garbage", "invalid_api_key"],
            ["revoked", live.access_token, "invalid_token"],
            ["revoked, but still stored", kept.access_token, "invalid_token"],
            ["revoked and expired", revoked.access_token, "invalid_token"],
            ["wrong resource", wrong.access_token, "invalid_token"],
            ["a refresh token", expired.refresh_token, "invalid_api_key"]
          ]
          for (const [what, token, code] of refusals) {
            const { body, headers, status } = yield* call(token)
            expect([what, status, body.error.code, headers.get("www-authenticate")]).toEqual([
              what,
              401,
              code,
              challenge
            ])
          }
        }))

      it.effect("case 67: nothing at /mcp sets a cookie, whatever it answers", () =>
        Effect.gen(function*() {
          const { forMcp: { access_token: key }, forV1 } = yield* connectedToBoth
          const answers = [
            [200, yield* call(key)],
            [200, yield* Mcp.ask("tools/list", {}, { key })],
            [200, yield* Mcp.send({ key, body: Mcp.legacy("ping") })],
            [202, yield* Mcp.send({ key, body: { jsonrpc: "2.0", method: "notifications/initialized" } })],
            [405, yield* Mcp.send({ key, method: "GET" })],
            [400, yield* Mcp.send({ key, raw: "{" })],
            [401, yield* Mcp.send({ body: Mcp.legacy("ping") })],
            [401, yield* call(forV1.access_token)],
            [204, yield* Mcp.send({ method: "OPTIONS", headers: { origin: "https://assistant.example" } })]
          ] as const
          for (const [expected, { headers, status }] of answers) {
            expect([status, headers.getSetCookie()]).toEqual([expected, []])
          }
        }))

      it.effect("case 69: a key works until expires_at and not at it; null is never, and by default it is 90 days", () =>
        Effect.gen(function*() {
          const start = 1_700_000_000_000
          yield* TestClock.setTime(start)
          const { admins: { owner }, id } = yield* World.makeOrganization()
          const expiresAt = new Date(start + 5000)
          const { key: shownKey } = yield* World.makeKey(id, owner.id, ["org:read"], { expiresAt })
          const { key: never } = yield* World.makeKey(id, owner.id, ["org:read"], { expiresAt: null })
          const { key: usual } = yield* Fixtures.within(
            id,
            Provisioning.apiKey(id, owner.id, { label: "Usual", scopes: ["org:read"] })
          )
          const days = Duration.toMillis("90 days")
          yield* TestClock.setTime(start + 4999)
          expect(yield* both(shownKey)).toEqual(works)
          yield* TestClock.setTime(start + 5000)
          expect(yield* both(shownKey)).toEqual(refused)
          yield* TestClock.setTime(start + days - 1)
          expect(yield* both(usual)).toEqual(works)
          yield* TestClock.setTime(start + days)
          expect(yield* both(usual)).toEqual(refused)
          yield* TestClock.setTime(start + 80 * days)
          expect(yield* both(never)).toEqual(works)
        }))

      it.effect("case 72, S5.2-10: an API key works at both resources, an OAuth token at its own alone", () =>
        Effect.gen(function*() {
          const { forMcp, forV1, owner } = yield* connectedToBoth
          expect(yield* both(owner.key)).toEqual(works)
          expect([yield* use(forV1.access_token), yield* useAtMcp(forV1.access_token)]).toEqual([ok, invalidToken])
          expect([yield* use(forMcp.access_token), yield* useAtMcp(forMcp.access_token)]).toEqual([invalidToken, ok])
        }))
    })
  })
})
