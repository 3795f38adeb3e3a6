import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { Page } from "puppeteer-core"
import { callbackPath } from "../../../../src/domain/signin/IdentityProvider.ts"
import * as Server from "../../../../src/http/Server.ts"
import { ProviderInternet } from "../../../../src/layers/identity/Provider.ts"
import * as Site from "../../../../src/transport/Site.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { act } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Identity from "../../../support/signin/identityProvider.ts"
import * as World from "../../../support/world.ts"

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0
const baseUrl = Effect.map(HttpServer.HttpServer, (server) => `http://127.0.0.1:${portOf(server)}`)

const served = Server.layer.pipe(
  Layer.provideMerge(
    Layer.effect(Site.Sites, Effect.map(baseUrl, (baseUrl) => Site.make([{ baseUrl, organizationId: null }])))
  ),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(World.core(postgres)),
  Layer.provideMerge(Layer.succeed(ProviderInternet, () => Identity.loopback)),
  Layer.provideMerge(
    Browser.Chromium.layerWith("--ignore-certificate-errors", "--host-resolver-rules=MAP app.example 127.0.0.1")
  )
)

const isAt = (page: Page, path: string) =>
  Effect.promise(() => page.waitForFunction(`location.pathname === ${JSON.stringify(path)}`, { timeout: 20_000 }))

const click = (page: Page, selector: string) => Effect.promise(() => page.click(selector))

describe("signing in by an identity provider in a browser", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("an admin links themselves, signs out, and comes back by the provider alone", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ name: "Acme & Sons" })
        const base = yield* baseUrl
        const provider = yield* Identity.real([`${base}${callbackPath(id)}`])
        yield* act((requests) =>
          requests.identity_provider_set({
            organization: id,
            issuer: provider.issuer,
            client_id: Identity.clientId,
            client_secret: Redacted.make(Identity.clientSecret),
            required: null,
            second_factor: null,
            private_network: null,
            max_age: null
          })
        )
        yield* Pages.givePassword(id, admins.owner.id)
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const page = yield* Browser.newPage()
        const wrong: Array<string> = []
        yield* Effect.promise(async () => {
          await page.goto(`${base}/console/security`)
          await page.type("#sign-in-organization", id)
          await page.type("#sign-in-email", email)
          await page.type("#sign-in-password", Pages.password)
        })
        wrong.push(...(yield* Browser.inspect(page, "provider-offered")))
        yield* click(page, "main button.main")
        yield* isAt(page, "/console/security")
        wrong.push(...(yield* Browser.inspect(page, "provider-security")))
        yield* click(page, "a[href='/console/security/identity-provider']")
        yield* isAt(page, "/console/security/identity-provider")
        wrong.push(...(yield* Browser.inspect(page, "provider-unlinked")))
        yield* Effect.promise(() => page.type("#password", Pages.password))
        yield* click(page, "main button.main")
        yield* Effect.promise(() => page.waitForFunction("document.body.innerText.includes('You are linked')"))
        wrong.push(...(yield* Browser.inspect(page, "provider-linked")))
        expect((yield* World.changes(id)).at(-1)?.action).toBe("admin.identity_linked")

        yield* click(page, "header form button")
        yield* isAt(page, "/console/sign-in")
        yield* click(page, "a[href^='/console/sign-in/provider']")
        yield* isAt(page, "/console/sign-in/provider")
        wrong.push(...(yield* Browser.inspect(page, "provider-form")))
        yield* Effect.promise(() => page.type("#organization", "nobody"))
        yield* click(page, "main button.main")
        yield* Effect.promise(() => page.waitForSelector("[role=alert]"))
        wrong.push(...(yield* Browser.inspect(page, "provider-none")))
        yield* Effect.promise(() => page.goto(`${base}/console/sign-in/provider?organization=${id}`))
        yield* click(page, "main button.main")
        yield* Effect.promise(() => page.waitForSelector("header .who", { timeout: 20_000 }))
        expect(yield* Effect.promise(() => page.$eval("header .who", (who) => String(who.textContent)))).toContain(
          email
        )
        expect(wrong).toEqual([])
      }))
  })
})
