import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as oauth from "oauth4webapi"
import * as openid from "openid-client"
import * as Server from "../../src/http/Server.ts"
import * as Site from "../../src/transport/Site.ts"
import * as Pages from "../support/http/pages.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { form, person } from "./person.ts"
import { replicas } from "./replicas.ts"

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0
const baseUrl = Effect.map(HttpServer.HttpServer, (server) => `http://127.0.0.1:${portOf(server)}`)

const served = Server.layer.pipe(
  Layer.provideMerge(
    Layer.effect(Site.Sites, Effect.map(baseUrl, (baseUrl) => Site.make([{ baseUrl, organizationId: null }])))
  ),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(World.core(postgres))
)

const callback = "http://127.0.0.1:33418/callback"

const stage = Effect.gen(function*() {
  const base = yield* baseUrl
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  const email = yield* Pages.emailOf(id, admins.owner.id)
  return { base, walk: person(base, id, email) }
})

const single = Effect.flatMap(Layer.build(Layer.fresh(served)), (context) => Effect.provideContext(stage, context))

const stages = { "the running server": single, "two replicas in turn": replicas } as const

const status = async (url: string, token: string) =>
  (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status

describe("OAuth with clients that others wrote", () => {
  for (const [name, stage] of Object.entries(stages)) {
    for (const method of ["none", "client_secret_basic", "client_secret_post"] as const) {
      it.live(`oauth4webapi registers with ${method} at ${name}, is authorized, gets tokens, refreshes and revokes`, () =>
        Effect.flatMap(stage, ({ base, walk }) =>
          Effect.promise(async () => {
            const insecure = { [oauth.allowInsecureRequests]: true }
            const resource = new URL(`${base}/v1`)
            const challenged = await fetch(`${resource}/organization`)
            expect(challenged.headers.get("www-authenticate")).toBe(
              `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/v1"`
            )
            const protection = await oauth.processResourceDiscoveryResponse(
              resource,
              await oauth.resourceDiscoveryRequest(resource, insecure)
            )
            const issuer = new URL(protection.authorization_servers![0]!)
            const server = await oauth.processDiscoveryResponse(
              issuer,
              await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure })
            )
            const client: oauth.Client = await oauth.processDynamicClientRegistrationResponse(
              await oauth.dynamicClientRegistrationRequest(server, {
                redirect_uris: [callback],
                client_name: "oauth4webapi",
                token_endpoint_auth_method: method
              }, insecure)
            )
            const secret = String(client["client_secret"])
            const authentication = method === "none"
              ? oauth.None()
              : method === "client_secret_basic"
              ? oauth.ClientSecretBasic(secret)
              : oauth.ClientSecretPost(secret)
            const verifier = oauth.generateRandomCodeVerifier()
            const state = oauth.generateRandomState()
            const url = new URL(server.authorization_endpoint!)
            url.search = form({
              client_id: client.client_id,
              redirect_uri: callback,
              response_type: "code",
              code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
              code_challenge_method: "S256",
              scope: protection.scopes_supported!.join(" "),
              resource: protection.resource,
              state
            }).toString()
            const answer = oauth.validateAuthResponse(
              server,
              client,
              await walk(url, ["archive:read", "org:read"]),
              state
            )
            const first = await oauth.processAuthorizationCodeResponse(
              server,
              client,
              await oauth.authorizationCodeGrantRequest(server, client, authentication, answer, callback, verifier, {
                additionalParameters: { resource: protection.resource },
                ...insecure
              })
            )
            expect([first.token_type, first.expires_in, first.scope]).toEqual(["bearer", 3600, "archive:read org:read"])
            expect(await status(`${base}/v1/organization`, first.access_token)).toBe(200)
            const second = await oauth.processRefreshTokenResponse(
              server,
              client,
              await oauth.refreshTokenGrantRequest(server, client, authentication, first.refresh_token!, insecure)
            )
            expect(second.refresh_token).not.toBe(first.refresh_token)
            expect(await status(`${base}/v1/organization`, second.access_token)).toBe(200)
            await oauth.processRevocationResponse(
              await oauth.revocationRequest(server, client, authentication, second.refresh_token!, insecure)
            )
            expect(await status(`${base}/v1/organization`, second.access_token)).toBe(401)
            expect(await status(`${base}/v1/organization`, first.access_token)).toBe(401)
          })))
    }

    it.live(`openid-client registers at ${name}, is authorized, gets tokens, refreshes and revokes, and a replay disconnects`, () =>
      Effect.flatMap(stage, ({ base, walk }) =>
        Effect.promise(async () => {
          const config = await openid.dynamicClientRegistration(
            new URL(base),
            {
              redirect_uris: [callback],
              client_name: "openid-client",
              token_endpoint_auth_method: "client_secret_post"
            },
            undefined,
            { algorithm: "oauth2", execute: [openid.allowInsecureRequests] }
          )
          const connect = async () => {
            const verifier = openid.randomPKCECodeVerifier()
            const state = openid.randomState()
            const url = openid.buildAuthorizationUrl(config, {
              redirect_uri: callback,
              scope: "org:read",
              resource: `${base}/v1`,
              code_challenge: await openid.calculatePKCECodeChallenge(verifier),
              code_challenge_method: "S256",
              state
            })
            return openid.authorizationCodeGrant(config, await walk(url, ["org:read"]), {
              pkceCodeVerifier: verifier,
              expectedState: state
            })
          }
          const first = await connect()
          expect(await status(`${base}/v1/organization`, first.access_token)).toBe(200)
          const second = await openid.refreshTokenGrant(config, first.refresh_token!)
          expect(await status(`${base}/v1/organization`, second.access_token)).toBe(200)
          await expect(openid.refreshTokenGrant(config, first.refresh_token!)).rejects.toMatchObject({
            error: "invalid_grant"
          })
          expect(await status(`${base}/v1/organization`, second.access_token)).toBe(401)
          const third = await connect()
          await openid.tokenRevocation(config, third.refresh_token!)
          expect(await status(`${base}/v1/organization`, third.access_token)).toBe(401)
        })))
  }
})
