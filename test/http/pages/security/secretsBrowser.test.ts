import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import * as Server from "../../../../src/http/Server.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Site from "../../../../src/transport/Site.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as HeldSecrets from "../../../support/security/heldSecrets.ts"
import * as World from "../../../support/world.ts"

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0
const baseUrl = Effect.map(HttpServer.HttpServer, (server) => `http://127.0.0.1:${portOf(server)}`)

const served = Server.layer.pipe(
  Layer.provideMerge(
    Layer.effect(Site.Sites, Effect.map(baseUrl, (baseUrl) => Site.make([{ baseUrl, organizationId: null }])))
  ),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(World.core(postgres)),
  Layer.provideMerge(Browser.Chromium.layer)
)

const password = "kVb7 the service's own"

describe("the secrets and the end of an account in a browser", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("a password is read and its account offboarded by keyboard alone, on pages that fit every screen", () =>
      Effect.gen(function*() {
        const platform = yield* SimulatedPlatform
        const base = yield* baseUrl
        const { admins, id } = yield* World.makeOrganization({ name: "Acme & Sons" })
        const { id: account, userId } = yield* World.makeLiveAccount(id, {
          first_name: "Ada",
          last_name: "Lovelace",
          security: { two_fa_password: Redacted.make(password) }
        })
        const gone = yield* World.makeAccount(id, { first_name: "Zoe", facts: { offboarded_at: new Date() } })
        yield* HeldSecrets.hold(id, account, { password })
        yield* HeldSecrets.hold(id, gone, { password: "another" })
        yield* Pages.givePassword(id, admins.owner.id)
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const page = yield* Browser.newPage()
        const wrong: Array<string> = []
        const refused = /^Failed to load resource: .* status of 403 /
        page.on("console", (message) => void (refused.test(message.text()) || wrong.push(message.text())))
        const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
        const focus = Effect.fnUntraced(function*(selector: string) {
          yield* Effect.promise(async () => {
            for (
              let steps = 0;
              !(await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`));
              steps++
            ) {
              if (steps === 100) throw new Error(`${selector} gets no focus`)
              await page.keyboard.press("Tab")
            }
          })
        })
        const keys = Effect.fnUntraced(function*(selector: string, text = "") {
          yield* focus(selector)
          yield* Effect.promise(async () => {
            await page.keyboard.type(text)
            await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
          })
        })
        const textOf = Effect.promise(() => page.evaluate("document.querySelector('main').innerText"))
        yield* Effect.promise(async () => {
          await page.goto(`${base}/console/secrets`)
          await page.type("#sign-in-organization", id)
          await page.type("#sign-in-email", email)
        })
        yield* keys("#sign-in-password", Pages.password)
        yield* look("secrets")
        yield* keys(`a[href$='${account}/secrets']`)
        yield* look("secrets-ask")
        yield* keys("#password", "not the password")
        yield* look("secrets-wrong")
        yield* keys("#password", Pages.password)
        expect(yield* textOf).toContain(password)
        yield* look("secrets-shown")
        yield* focus("#secret-field")
        expect(yield* Effect.promise(() => page.evaluate("getSelection().toString()"))).toBe(password)
        yield* keys("a.button.main")
        yield* World.set(id, "account", account, { locked_at: new Date(), lock_reason: "two_fa" })
        yield* Effect.promise(() => page.goto(`${base}/console/accounts/${account}/secrets`))
        yield* look("secrets-locked")
        yield* Effect.promise(() => page.goto(`${base}/console/accounts/${account}`))
        yield* keys("a[href$='/offboard']")
        yield* look("offboard")
        yield* keys("button.danger")
        expect(yield* textOf).toContain("The account is offboarded")
        yield* look("offboarded")
        expect(yield* platform.isPassword(userId, Redacted.make(password))).toBe(false)
        expect(wrong).toEqual([])
      }))
  })
})
