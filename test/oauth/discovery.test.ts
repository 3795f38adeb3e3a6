import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Scope } from "../../src/domain/people/Access.ts"
import * as Site from "../../src/transport/Site.ts"
import { forEachDatabase, postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const at = (baseUrl: string) => Effect.provideService(Site.Sites, Site.make([{ baseUrl, organizationId: null }]))

describe("OAuth discovery", () => {
  layer(World.world(postgres))((it) => {
    it.effect("case 1, S0-02, S5.2-06, S5.2-07: the server's metadata names its endpoints, S256 alone and the iss parameter, to every origin", () =>
      Effect.gen(function*() {
        const { body, headers, status } = yield* World.send("GET", "/.well-known/oauth-authorization-server", {
          headers: { origin: "https://app.example" }
        })
        expect([status, headers.get("content-type"), headers.get("access-control-allow-origin")]).toEqual([
          200,
          "application/json",
          "*"
        ])
        expect(body).toEqual({
          issuer: World.baseUrl,
          authorization_endpoint: `${World.baseUrl}/oauth/authorize`,
          token_endpoint: `${World.baseUrl}/oauth/token`,
          revocation_endpoint: `${World.baseUrl}/oauth/revoke`,
          registration_endpoint: `${World.baseUrl}/oauth/register`,
          scopes_supported: [
            "archive:read",
            "org:read",
            "accounts:write",
            "security:write",
            "admins:write",
            "archive:delete"
          ],
          response_types_supported: ["code"],
          response_modes_supported: ["query"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
          revocation_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
          archive_modes_supported: ["cloud", "local"],
          service_documentation: `${World.baseUrl}/docs`
        })
      }))

    it.effect("cases 2 and 3, S5.2-06, S5.2-09: each resource has its metadata, and the one without a name is MCP's", () =>
      Effect.gen(function*() {
        for (const [path, resource] of [["/mcp", "mcp"], ["/v1", "v1"], ["", "mcp"]] as const) {
          const { body, headers, status } = yield* World.send("GET", `/.well-known/oauth-protected-resource${path}`)
          expect([path, status, headers.get("access-control-allow-origin")]).toEqual([path, 200, "*"])
          expect(body).toMatchObject({
            resource: `${World.baseUrl}/${resource}`,
            authorization_servers: [World.baseUrl],
            scopes_supported: Scope.literals,
            bearer_methods_supported: ["header"]
          })
        }
      }))

    it.effect("case 4: there is no OpenID Connect, and nothing under other names", () =>
      Effect.gen(function*() {
        for (
          const path of [
            "/.well-known/openid-configuration",
            "/.well-known/oauth-authorization-server/mcp",
            "/.well-known/oauth-protected-resource/v2",
            "/.well-known/oauth-protected-resource/mcp/v1",
            "/.well-known/oauth-protected-resource/",
            "/userinfo",
            "/oauth/userinfo",
            "/oauth/jwks",
            "/oauth/introspect"
          ]
        ) {
          expect([path, (yield* World.send("GET", path)).status]).toEqual([path, 404])
        }
      }))

    it.effect("case 7: a base address with a path has its metadata where RFC 8414 and RFC 9728 put it, too", () =>
      Effect.gen(function*() {
        const baseUrl = `${World.baseUrl}/security`
        const get = (path: string) => World.send("GET", `/.well-known/${path}`).pipe(at(baseUrl))
        for (const path of ["oauth-authorization-server/security", "oauth-authorization-server"]) {
          const { body, status } = yield* get(path)
          expect([path, status, body.issuer, body.token_endpoint]).toEqual([
            path,
            200,
            baseUrl,
            `${baseUrl}/oauth/token`
          ])
        }
        for (
          const [path, resource] of [
            ["oauth-protected-resource/security/mcp", "mcp"],
            ["oauth-protected-resource/security/v1", "v1"],
            ["oauth-protected-resource/security", "mcp"],
            ["oauth-protected-resource/mcp", "mcp"],
            ["oauth-protected-resource/v1", "v1"]
          ] as const
        ) {
          const { body, status } = yield* get(path)
          expect([path, status, body.resource]).toEqual([path, 200, `${baseUrl}/${resource}`])
        }
        for (const path of ["oauth-authorization-server/other", "oauth-protected-resource/securityx/mcp"]) {
          expect([path, (yield* get(path)).status]).toEqual([path, 404])
        }
      }))

    it.effect("case 8: browsers of every origin are let through to the endpoints for programs, and not to authorize", () =>
      Effect.gen(function*() {
        const preflight = (path: string) =>
          World.send("OPTIONS", path, {
            headers: {
              origin: "https://app.example",
              "access-control-request-method": "POST",
              "access-control-request-headers": "authorization, content-type, mcp-protocol-version"
            }
          })
        for (
          const path of [
            "/oauth/token",
            "/oauth/revoke",
            "/oauth/register",
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource/v1"
          ]
        ) {
          const { headers, status } = yield* preflight(path)
          expect([path, status, headers.get("access-control-allow-origin")]).toEqual([path, 204, "*"])
          const allowed = headers.get("access-control-allow-headers")!.toLowerCase().split(/, ?/)
          expect(allowed).toEqual(expect.arrayContaining(["authorization", "content-type", "mcp-protocol-version"]))
        }
        const authorize = yield* preflight("/oauth/authorize")
        expect(authorize.headers.has("access-control-allow-origin")).toBe(false)
      }))

    it.effect("the documents are the site's own, and a host that is not ours has none", () =>
      Effect.gen(function*() {
        const sites = Site.make([
          { baseUrl: World.baseUrl, organizationId: null },
          { baseUrl: "https://acme.test", organizationId: null }
        ])
        const ask = (host: string, path: string) =>
          World.send("GET", path, { host }).pipe(Effect.provideService(Site.Sites, sites))
        expect((yield* ask("acme.test", "/.well-known/oauth-authorization-server")).body.issuer).toBe(
          "https://acme.test"
        )
        expect((yield* ask("evil.test", "/.well-known/oauth-authorization-server")).status).toBe(404)
        expect((yield* ask("evil.test", "/.well-known/oauth-protected-resource/v1")).status).toBe(404)
      }))
  })

  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("a request to the API without a token gets the address of its metadata", () =>
        Effect.gen(function*() {
          for (const key of ["", "garbage", "osc_live_wrong"]) {
            const { headers, status } = yield* World.get("/v1/organization", key)
            expect([key, status, headers.get("www-authenticate")]).toEqual([
              key,
              401,
              `Bearer resource_metadata="${World.baseUrl}/.well-known/oauth-protected-resource/v1"`
            ])
          }
        }))
    })
  })
})
