import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import * as Site from "../../src/transport/Site.ts"
import { operations } from "../added/index.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations
const common = { baseUrl: World.baseUrl, organizationId: null }

/** Two organizations, each with a host of its own beside the common one. */
const neighbours = Effect.gen(function*() {
  const [acme, globex] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
  const sites = Site.make([
    common,
    { baseUrl: "https://acme.test", organizationId: acme.id },
    { baseUrl: "http://globex.test:8443", organizationId: globex.id }
  ])
  return { acme, globex, sites }
})

describe("9 the hosts of organizations", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S9-03: each organization's own host serves the same API, and answers alike", () =>
        Effect.gen(function*() {
          const { acme, sites } = yield* neighbours
          const account = yield* World.makeAccount(acme.id)
          for (const { method, path } of all.filter(({ kind }) => kind === "read" || kind === "live")) {
            const address = path.replaceAll(/:\w+/g, account)
            const ask = (host: string) =>
              World.send(method, address, { host, key: acme.admins.owner.key }).pipe(
                Effect.provideService(Site.Sites, sites)
              )
            const [here, there] = [yield* ask("localhost"), yield* ask("acme.test")]
            expect([path, there.status, withoutUse(there.body)]).toEqual([path, here.status, withoutUse(here.body)])
            // The one is reached over https, the other is not.
            there.headers.delete("strict-transport-security")
            expect([...there.headers.keys()]).toEqual([...here.headers.keys()])
          }
        }))

      it.effect("S9-03: another organization's credential is unknown there, like one that never was", () =>
        Effect.gen(function*() {
          const { acme, globex, sites } = yield* neighbours
          const account = yield* World.makeAccount(globex.id)
          const ask = (host: string, key: World.Asking["key"]) =>
            World.send("POST", `/v1/accounts/${account}/pause`, { host, ...(key === undefined ? {} : { key }) }).pipe(
              Effect.provideService(Site.Sites, sites)
            )
          const unknown = yield* ask("acme.test", "osc_live_unknown")
          for (const { key } of Object.values(globex.admins)) {
            const answer = yield* ask("acme.test", key)
            expect([answer.status, answer.body]).toEqual([401, unknown.body])
            expect([...answer.headers.keys()]).toEqual([...unknown.headers.keys()])
          }
          expect((yield* ask("globex.test:8443", acme.admins.owner.key)).status).toBe(401)
          expect(yield* World.journal(globex.id)).toEqual([])
          expect((yield* ask("globex.test:8443", globex.admins.owner.key)).status).toBe(200)
        }))

      it.effect("a host that is not ours answers 404, whatever the credential", () =>
        Effect.gen(function*() {
          const { acme, sites } = yield* neighbours
          const hosts = [
            "unknown.test",
            "acme.test.unknown.test",
            "acme.test:8443",
            "globex.test",
            "globex.test:80",
            "127.0.0.1"
          ]
          for (const host of hosts) {
            for (const key of [acme.admins.owner.key, "wrong"]) {
              const answer = yield* World.send("GET", "/v1/organization", { host, key }).pipe(
                Effect.provideService(Site.Sites, sites)
              )
              expect([host, ...World.refusal(answer)]).toEqual([host, 404, "resource_missing"])
            }
          }
        }))

      it.effect("a web request needs no Host header, for its address names the host; a header goes before it", () =>
        Effect.gen(function*() {
          const { acme, sites } = yield* neighbours
          const handler = yield* Effect.provideService(World.webHandler, Site.Sites, sites)
          const ask = (url: string, headers: Record<string, string> = {}) =>
            Effect.promise(() =>
              handler(
                new Request(url, {
                  headers: { authorization: `Bearer ${Redacted.value(acme.admins.owner.key)}`, ...headers }
                })
              )
            )
          for (const path of ["/v1/organization", "/console/sign-in", "/.well-known/oauth-authorization-server"]) {
            expect([path, (yield* ask(`https://acme.test${path}`)).status]).toEqual([path, 200])
            expect([path, (yield* ask(`https://unknown.test${path}`)).status]).toEqual([path, 404])
            expect((yield* ask(`https://acme.test${path}`, { host: "unknown.test" })).status).toBe(404)
            expect((yield* ask(`https://unknown.test${path}`, { host: "acme.test" })).status).toBe(200)
          }
        }))

      it.effect("a host is the same in any case, and with the port that its address has without saying so", () =>
        Effect.gen(function*() {
          const { acme, sites } = yield* neighbours
          for (const host of ["ACME.test", "acme.test:443", "LocalHost", "localhost:80"]) {
            const answer = yield* World.send("GET", "/v1/organization", { host, key: acme.admins.owner.key }).pipe(
              Effect.provideService(Site.Sites, sites)
            )
            expect([host, answer.status]).toEqual([host, 200])
          }
        }))
    })
  })

  layer(Layer.empty)((it) => {
    it.effect("the base address is the site's, and nothing that a client says", () =>
      Effect.sync(() => {
        const organizationId = OrganizationId.make("acme")
        const sites = Site.make([common, { baseUrl: "https://acme.test", organizationId }])
        expect(sites.find("ACME.TEST:443")).toEqual({ baseUrl: "https://acme.test", organizationId })
        expect(sites.find("acme.test@evil.test")).toBeUndefined()
        expect(sites.find("")).toBeUndefined()
        expect(sites.find(undefined)).toBeUndefined()
      }))
  })
})

/** The body without when credentials were last used, which every request moves. */
const withoutUse = (body: unknown) =>
  JSON.stringify(body, (name, value: unknown) => name === "last_used_at" ? undefined : value)
