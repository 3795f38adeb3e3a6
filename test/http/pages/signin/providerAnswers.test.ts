import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { callbackPath } from "../../../../src/domain/signin/IdentityProvider.ts"
import { ProviderInternet } from "../../../../src/layers/identity/Provider.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Identity from "../../../support/signin/identityProvider.ts"
import * as World from "../../../support/world.ts"
import { back, connect, go, linkAs, path } from "./provided.ts"

describe("an answer of a provider that takes a code as often as it is brought", () => {
  layer(Layer.provideMerge(World.world(postgres), Layer.succeed(ProviderInternet, () => Identity.loopback)))((it) => {
    it.effect("signs in once, however many browsers bring it at once with the cookie that was stolen", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const provider = yield* Identity.lying
        yield* connect(id, provider.issuer)
        yield* linkAs(id, admins.admin.id, "person-1")
        const { cookie, url } = yield* go(id)
        const { nonce = "", state = "" } = Object.fromEntries(new URL(url).searchParams)
        provider.nonce = nonce
        const answer = new URL(`${World.baseUrl}${callbackPath(id)}?code=a-code&state=${state}`)
        const pages = yield* Effect.all(Array.from({ length: 4 }, () => back(answer, cookie)), {
          concurrency: "unbounded"
        })
        expect(pages.map(({ status }) => status).toSorted()).toEqual([303, 403, 403, 403])
        expect((yield* back(answer, cookie)).status).toBe(403)
        expect(provider.codes.length).toBeGreaterThan(1)
        const signedIn = (yield* World.journal(id)).filter(({ action }) => action === "console.signed_in")
        expect(signedIn).toHaveLength(1)
      }))
  })
})

describe("an organization's own site", () => {
  const site = { baseUrl: "https://acme.example", organizationId: OrganizationId.make("own-site") }
  const sites = [site, { baseUrl: World.baseUrl, organizationId: null }]
  layer(Layer.provideMerge(World.world(postgres, sites), Layer.succeed(ProviderInternet, () => Identity.loopback)))(
    (it) => {
      it.effect("leads to its provider alone, and takes no answer that was for another site", () =>
        Effect.gen(function*() {
          const own = yield* World.makeOrganization({}, "own-site")
          const other = yield* World.makeOrganization()
          const visiting = { baseUrl: site.baseUrl }
          const offered = () => Pages.visit("GET", "/console/sign-in", visiting)
          const provider = yield* Identity.real(
            [site, { baseUrl: World.baseUrl }].flatMap(({ baseUrl }) =>
              [own.id, other.id].map((id) => `${baseUrl}${callbackPath(id)}`)
            )
          )
          yield* connect(other.id, provider.issuer)
          expect((yield* offered()).text).not.toContain(path)
          expect((yield* go(other.id, {}, visiting)).page.status).toBe(404)
          yield* connect(own.id, provider.issuer)
          expect((yield* offered()).text).toContain(path)
          expect((yield* Pages.visit("GET", path, visiting)).text).not.toContain("name=\"organization\"")
          for (const { admins, id } of [own, other]) yield* linkAs(id, admins.admin.id, "person-1")

          const { cookie, page, url } = yield* go(other.id, {}, visiting)
          expect(new URL(url).searchParams.get("redirect_uri")).toBe(`${site.baseUrl}${callbackPath(own.id)}`)
          expect(page.headers.get("set-cookie")).toMatch(/^__Host-console-provider=[\w.-]+; .*; Secure; SameSite=Lax$/)
          const answer = yield* Identity.follow(url)
          const elsewhere = cookie.replace("__Host-", "")
          expect((yield* back(answer, elsewhere)).status).toBe(403)
          const done = yield* Pages.visit("GET", `${answer.pathname}${answer.search}`, { ...visiting, cookie })
          expect(done.status).toBe(303)
          expect((yield* World.journal(own.id)).at(-1)?.actor_admin_id).toBe(own.admins.admin.id)

          const left = yield* go(other.id)
          const theirs = yield* Identity.follow(left.url)
          const here = yield* Pages.visit("GET", `${theirs.pathname}${theirs.search}`, {
            ...visiting,
            cookie: left.cookie.replace("console-", "__Host-console-")
          })
          expect(here.status).toBe(403)
        }))
    }
  )
})
