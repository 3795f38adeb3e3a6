import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { forgetOAuth } from "../../src/jobs/oauth/forget_oauth.ts"
import { LastUses } from "../../src/layers/sql/credentials/LastUses.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  callback,
  connected,
  connections,
  invalidGrant,
  invalidToken,
  mcp,
  ok,
  redeemWith,
  refreshWith,
  refused,
  registerApplication,
  revokeWith,
  tokens,
  use,
  v1,
  works
} from "./support.ts"

const hour = Duration.toMillis(Duration.hours(1))

describe("OAuth tokens that end", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
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
          yield* forgetOAuth.run
          expect((yield* left).toSorted()).toEqual(whole)
          yield* World.query(organization.id, (sql) =>
            sql`update ai_connection set revoked_at = created_at
              where organization_id = ${organization.id} and id = ${other!.id} returning id`)
          yield* TestClock.adjust("1 millis")
          yield* forgetOAuth.run
          expect((yield* left).toSorted()).toEqual(["code of one", "refresh of one"])
          yield* TestClock.adjust(24 * hour)
          yield* forgetOAuth.run
          expect((yield* left).toSorted()).toEqual(["refresh of one"])
          yield* TestClock.adjust(90 * 24 * hour)
          yield* forgetOAuth.run
          expect(yield* left).toEqual([])
        }))

      it.effect("when a connection was last used is written at most once a minute", () =>
        Effect.gen(function*() {
          const { organization, tokens: first } = yield* connected()
          const { written } = yield* LastUses
          const lastUsed = Effect.andThen(
            written,
            Effect.map(connections(organization.id), ([found]) => found?.last_used_at?.getTime())
          )
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
