import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ResourceServers } from "../../src/ports/oauth/OAuthPorts.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { connected, introspect, mcp, post, redeemWith, refused, revokeWith, tokens, v1 } from "./support.ts"

const secrets = { v1: "a secret of the search ".padEnd(40, "x"), mcp: "a secret of the bridge".padEnd(40, "y") }

const servers = Layer.succeed(ResourceServers, [
  { id: "search", resource: "v1", secret: Redacted.make(secrets.v1) },
  { id: "bridge", resource: "mcp", secret: Redacted.make(secrets.mcp) }
])

const ask = (token: string | undefined, id = "search", secret = secrets.v1) => introspect(token, id, secret)

const inactive = { active: false }

describe("introspection", () => {
  layer(Layer.provideMerge(World.world(postgres), servers))((it) => {
    it.effect("RFC 7662: a resource server learns what a token of its own resource is worth, as long as it works", () =>
      Effect.gen(function*() {
        const { admin, application, connectionId, organization, tokens: first } = yield* connected({
          params: { scope: "archive:read org:read" }
        })
        const answer = yield* ask(first.access_token)
        expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"])
        expect(answer.headers.get("access-control-allow-origin")).toBeNull()
        expect(answer.body).toEqual({
          active: true,
          token_type: "Bearer",
          scope: expect.stringMatching(/^(archive:read org:read|org:read archive:read)$/),
          client_id: application.client_id,
          sub: admin.adminId,
          organization_id: organization.id,
          connection_id: connectionId,
          aud: v1,
          iss: World.baseUrl,
          iat: expect.any(Number),
          exp: expect.any(Number)
        })
        expect(answer.body.exp - answer.body.iat).toBe(3600)
        yield* TestClock.adjust(3_599_999)
        expect((yield* ask(first.access_token)).body.active).toBe(true)
        yield* TestClock.adjust(1)
        expect((yield* ask(first.access_token)).body).toEqual(inactive)
      }))

    it.effect("RFC 7662: any other token is not active: another resource's, a refresh token, a key, a revoked or disabled one's", () =>
      Effect.gen(function*() {
        const { application, connect, organization, owner, tokens: first } = yield* connected()
        const { access_token: tool } = tokens(yield* redeemWith(yield* connect({ params: { resource: mcp } })))
        expect((yield* ask(tool)).body).toEqual(inactive)
        expect((yield* ask(first.access_token, "bridge", secrets.mcp)).body).toEqual(inactive)
        expect((yield* ask(tool, "bridge", secrets.mcp)).body.active).toBe(true)
        for (const token of [first.refresh_token, Redacted.value(organization.admins.owner.key), "garbage"]) {
          expect((yield* ask(token)).body).toEqual(inactive)
        }
        yield* World.set(organization.id, "admin", owner.id, { disabled_at: new Date(0) })
        expect((yield* ask(first.access_token)).body).toEqual(inactive)
        yield* World.set(organization.id, "admin", owner.id, { disabled_at: null })
        expect((yield* ask(first.access_token)).body.active).toBe(true)
        yield* revokeWith(application, first.access_token)
        expect((yield* ask(first.access_token)).body).toEqual(inactive)
        expect(refused(yield* ask(undefined))).toEqual([400, "invalid_request"])
      }))

    it.effect("only configured resource servers may ask, by their own secret, and metadata names the endpoint where there are any", () =>
      Effect.gen(function*() {
        const { tokens: first } = yield* connected()
        const wrong = [["search", secrets.mcp], ["bridge", secrets.v1], ["nobody", secrets.v1], ["search", ""]] as const
        for (const [id, secret] of wrong) {
          const answer = yield* ask(first.access_token, id, secret)
          expect(refused(answer)).toEqual([401, "invalid_client"])
          expect(answer.headers.get("www-authenticate")).toContain("Basic")
        }
        expect(refused(yield* post("/oauth/introspect", { token: first.access_token }))).toEqual([
          401,
          "invalid_client"
        ])
        const metadata = World.get("/.well-known/oauth-authorization-server", "")
        expect((yield* metadata).body.introspection_endpoint).toBe(`${World.baseUrl}/oauth/introspect`)
        const none = Effect.provideService(ResourceServers, [])
        expect((yield* none(metadata)).body).not.toHaveProperty("introspection_endpoint")
        expect((yield* none(ask(first.access_token))).status).toBe(404)
      }))
  })
})
