import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as crypto from "node:crypto"
import { TOTP } from "otpauth"
import type { CDPSession, Page } from "puppeteer-core"
import * as Server from "../../../../src/http/Server.ts"
import * as Site from "../../../../src/transport/Site.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { press, textOf, type } from "../browsed.ts"

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0
// Browsers have passkeys at a name alone, and without https at this one.
const baseUrl = Effect.map(HttpServer.HttpServer, (server) => `http://localhost:${portOf(server)}`)

const served = Server.layer.pipe(
  Layer.provideMerge(
    Layer.effect(Site.Sites, Effect.map(baseUrl, (baseUrl) => Site.make([{ baseUrl, organizationId: null }])))
  ),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(World.core(postgres)),
  Layer.provideMerge(Browser.Chromium.layer)
)

const textIn = (page: Page, selector: string) =>
  Effect.promise(() => page.$eval(selector, (found) => (found as unknown as { innerText: string }).innerText))

/** Gives the page's browser a security key of its own, which verifies its user. */
const giveAuthenticator = (page: Page, isUserVerified = true) =>
  Effect.promise(async () => {
    const session = await page.createCDPSession()
    await session.send("WebAuthn.enable")
    const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true
      }
    })
    return { session, authenticatorId }
  })

const setVerified = (
  { authenticatorId, session }: { readonly session: CDPSession; readonly authenticatorId: string },
  isUserVerified: boolean
) => Effect.promise(() => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }))

const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization({ name: "Acme & Sons" })
  yield* Pages.givePassword(id, admins.owner.id)
  const base = yield* baseUrl
  const page = yield* Browser.newPage()
  const wrong: Array<string> = []
  const email = yield* Pages.emailOf(id, admins.owner.id)
  return {
    id,
    adminId: admins.owner.id,
    base,
    page,
    wrong,
    look: (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found)),
    goto: (path: string) => Effect.promise(() => page.goto(`${base}${path}`)),
    passwordSignIn: Effect.gen(function*() {
      yield* type(page, "#sign-in-organization", id)
      yield* type(page, "#sign-in-email", email)
      yield* type(page, "#sign-in-password", Pages.password)
      yield* press(page, "main button.main")
    }),
    signOut: press(page, "header form button")
  }
})

const codeOf = (key: string) => new TOTP({ secret: key.replaceAll(/\s/g, "") }).generate()

const second = "/console/security/second-factor"
const passkeyButton = "[data-passkey=get] button"

const rows = (id: string, table: string) =>
  World.query<Record<string, unknown>>(
    id,
    (sql) => sql`select * from ${sql(table)} where organization_id = ${id}`
  )

describe("second factors in a browser", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("an admin adds a passkey, signs in by it with and without the password, confirms with it and removes it", () =>
      Effect.gen(function*() {
        const { adminId, base, goto, id, look, page, passwordSignIn, signOut, wrong } = yield* stage()
        const authenticator = yield* giveAuthenticator(page)
        yield* goto("/console/security")
        yield* passwordSignIn
        yield* look("security-without")
        yield* press(page, `main a[href="${second}"]`)
        yield* look("second-factor-none")
        yield* press(page, `main a[href="${second}/passkey"]`)
        yield* look("passkey-new")
        yield* type(page, "#password", Pages.password)
        yield* type(page, "#passkey-name", "Work laptop")
        yield* press(page, "[data-passkey=create] button")
        expect(yield* textOf(page)).toContain("They are shown this once.")
        yield* look("recovery-codes")
        yield* press(page, "main a.button.main")
        expect(yield* textOf(page)).toContain("Work laptop")
        yield* look("second-factor-passkey")
        yield* signOut

        // Without the password.
        yield* goto(second)
        yield* press(page, "main a[href*=passkey]")
        yield* look("passkey-sign-in")
        yield* press(page, passkeyButton)
        expect(page.url()).toBe(`${base}${second}`)
        yield* signOut

        // But for the owner nobody comes by it where all have to come by an identity provider.
        yield* World.query(id, (sql) =>
          sql`insert into identity_provider ${
            sql.insert({
              organization_id: id,
              version: crypto.randomUUID(),
              issuer: "https://login.acme.example",
              client_id: "console",
              client_secret_sealed: "",
              required: true,
              second_factor: "console",
              private_network: false,
              changed_at: new Date(0)
            })
          }`)
        yield* World.set(id, "admin", adminId, { role: "superadmin" })
        yield* goto("/console/sign-in/passkey")
        yield* press(page, passkeyButton)
        expect(yield* textOf(page)).toContain("This passkey is not known here")
        yield* World.set(id, "admin", adminId, { role: "owner" })
        yield* World.query(id, (sql) => sql`delete from identity_provider where organization_id = ${id}`)

        // With the password.
        yield* goto(second)
        yield* passwordSignIn
        expect(page.url()).toContain("/console/sign-in/second-factor")
        yield* look("second-step")
        yield* press(page, passkeyButton)
        expect(page.url()).toBe(`${base}${second}`)

        // Once some minutes have passed, a key that may write needs it again.
        yield* World.query(
          id,
          (sql) => sql`update console_session set factor_at = ${new Date(0)} where organization_id = ${id}`
        )
        yield* goto("/console/developer/api-keys/new")
        yield* look("step-up")
        yield* type(page, "#label", "Nightly report")
        yield* Effect.promise(() => page.click("#scope-accounts-write"))
        yield* type(page, "#password", Pages.password)
        yield* press(page, "form[action$=api-keys] button.main")
        expect(yield* textOf(page)).toContain("Give your second factor.")
        yield* type(page, "#password", Pages.password)
        yield* Effect.promise(async () => {
          await page.click(passkeyButton)
          await page.waitForFunction("document.querySelector('[data-answer]').value !== ''")
        })
        yield* look("step-up-confirmed")
        yield* press(page, "form[action$=api-keys] button.main")
        expect(yield* textOf(page)).toContain("Key created")

        // A device that does not verify its user gives nothing.
        yield* setVerified(authenticator, false)
        yield* signOut
        yield* goto("/console/sign-in/passkey")
        yield* Effect.promise(async () => {
          await page.click(passkeyButton)
          await page.waitForFunction("document.querySelector('[role=status]').textContent.includes('not used')")
        })
        yield* setVerified(authenticator, true)
        yield* Effect.promise(() => page.reload())
        yield* press(page, passkeyButton)

        yield* goto(second)
        yield* press(page, `main a[href*="remove?factor="]`)
        yield* look("remove")
        yield* type(page, "#password", Pages.password)
        yield* press(page, "main button.main")
        expect(yield* textOf(page)).toContain("The second factor is removed.")
        expect([yield* rows(id, "passkey"), yield* rows(id, "recovery_code")]).toEqual([[], []])
        yield* signOut
        yield* goto("/console/sign-in/passkey")
        yield* press(page, passkeyButton)
        expect(yield* textOf(page)).toContain("This passkey is not known here")
        yield* look("passkey-unknown")
        expect(wrong).toEqual([])
      }))

    it.effect("an organization that requires it has its admins set one up at sign-in, before anything else", () =>
      Effect.gen(function*() {
        const { base, goto, id, look, page, passwordSignIn, signOut, wrong } = yield* stage()
        yield* World.set(id, "organization", id, { requires_second_factor: true })
        yield* goto("/console/developer")
        yield* passwordSignIn
        expect(page.url()).toContain("/console/sign-in/set-up")
        yield* look("set-up")
        yield* goto("/console/developer")
        expect(page.url()).toContain("/console/sign-in?")
        yield* goto("/console/sign-in/set-up")
        yield* type(page, "#new-code", "000000")
        yield* press(page, "form:has(#new-code) button.main")
        expect(yield* textOf(page)).toContain("This is not the code that the app shows now.")
        const key = yield* textIn(page, "code.secret")
        yield* type(page, "#new-code", codeOf(key))
        yield* press(page, "form:has(#new-code) button.main")
        const codes = (yield* textIn(page, "ol.codes")).split(/\s+/)
        expect(codes.filter((code) => /^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/.test(code)).length).toBe(10)
        yield* press(page, "main a.button.main")
        expect(page.url()).toBe(`${base}/console`)
        yield* goto(second)
        yield* look("second-factor-app")
        yield* signOut
        yield* passwordSignIn
        yield* type(page, "#code", codes[3]!)
        yield* press(page, "form:has(#code) button.main")
        yield* goto(second)
        expect(yield* textOf(page)).toContain("9 are left")
        yield* press(page, `main a[href*="remove?factor=totp"]`)
        yield* type(page, "#password", Pages.password)
        yield* press(page, "main button.main")
        expect(yield* textOf(page)).toContain("this is your last one")
        yield* look("remove-last")
        yield* goto(`${second}/requirement`)
        yield* look("requirement")
        expect(wrong).toEqual([])
      }))
  })
})
