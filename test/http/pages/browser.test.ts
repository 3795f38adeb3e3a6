import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Site from "../../../src/transport/Site.ts"
import * as Browser from "../../support/http/browser.ts"
import * as Pages from "../../support/http/pages.ts"
import * as World from "../../support/world.ts"
import {
  baseUrl,
  callback,
  press,
  register,
  served,
  servedWithoutMail,
  signIn,
  stage,
  textOf,
  type
} from "./browsed.ts"
import { organization } from "./browsedOrganization.ts"
import { settings, withoutMail } from "./browsedSettings.ts"
import { applications } from "./oauth/browsedApplications.ts"

describe("the pages in a browser", () => {
  layer(served, { excludeTestServices: true })((it) => {
    applications(it)
    organization(it)
    settings(it)

    it.effect("an admin signs in, creates a key that is shown once, revokes it and signs out", () =>
      Effect.gen(function*() {
        const { base, email, id } = yield* stage()
        const page = yield* Browser.newPage()
        const wrong: Array<string> = []
        const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
        yield* Effect.promise(() => page.goto(`${base}/console/developer`))
        yield* look("sign-in")
        yield* type(page, "#sign-in-organization", id)
        yield* type(page, "#sign-in-email", email)
        yield* type(page, "#sign-in-password", "wrong")
        yield* press(page, "main button.main")
        expect(yield* textOf(page)).toContain("do not belong together")
        yield* look("sign-in-wrong")
        yield* signIn(page, id, email)
        expect(page.url()).toBe(`${base}/console/developer`)
        yield* look("developer-empty")
        yield* press(page, "main .head a.button")
        yield* look("new-key")

        yield* type(page, "#label", "Nightly <b>report</b>")
        yield* Effect.promise(() => page.click("#scope-accounts-write"))
        yield* press(page, "form[action$=api-keys] button.main")
        expect(yield* textOf(page)).toContain("Enter your console password")
        yield* look("developer-wrong")
        yield* type(page, "#password", Pages.password)
        yield* press(page, "form[action$=api-keys] button.main")
        const secret = yield* Effect.promise(() =>
          page.$eval("#secret", (code) => (code as unknown as { innerText: string }).innerText)
        )
        expect(secret).toMatch(/^osc_live_[0-9A-Za-z]{49}$/)
        expect(
          (yield* World.get("/v1/organization", secret).pipe(
            Effect.provideService(Site.Sites, Site.make([{ baseUrl: World.baseUrl, organizationId: null }]))
          )).status
        ).toBe(200)
        yield* look("key-created")
        yield* press(page, "main a.button")
        expect(yield* textOf(page)).toContain("Nightly <b>report</b>")
        expect(yield* Effect.promise(() => page.content())).not.toContain(secret)
        yield* look("developer-key")
        yield* Effect.promise(() => page.goto(`${base}/console/security`))
        yield* look("security")
        yield* Effect.promise(() => page.goto(`${base}/console/developer`))

        yield* Effect.promise(() => page.click("section[aria-labelledby=keys] summary"))
        yield* press(page, "section[aria-labelledby=keys] button.danger")
        expect(yield* textOf(page)).toContain("The key is revoked.")
        yield* press(page, "header form button")
        yield* Effect.promise(() => page.goto(`${base}/console/developer`))
        expect(page.url()).toContain("/console/sign-in")
        yield* Effect.promise(() => page.goto(`${base}/oauth/authorize?client_id=unknown`))
        yield* look("problem")
        expect(wrong).toEqual([])
      }))

    it.effect("an admin is notified of a key made elsewhere, ends another session and changes the password", () =>
      Effect.gen(function*() {
        const { admins, base, email, id } = yield* stage()
        const page = yield* Browser.newPage()
        const other = yield* Browser.newPage()
        const wrong: Array<string> = []
        const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
        for (const each of [other, page]) {
          yield* Effect.promise(() => each.goto(`${base}/console/security`))
          yield* signIn(each, id, email)
          expect(each.url()).toBe(`${base}/console/security`)
        }
        yield* World.send("POST", "/v1/api-keys", {
          key: admins.owner.key,
          body: { label: "Made elsewhere", scopes: ["org:read"] }
        }).pipe(Effect.provideService(Site.Sites, Site.make([{ baseUrl: World.baseUrl, organizationId: null }])))
        yield* Effect.promise(() => page.goto(`${base}/console/security`))
        expect(yield* textOf(page)).toContain("API key “Made elsewhere” was created over the API")
        yield* look("security")
        yield* press(page, "section[aria-labelledby=sessions] ul button.danger")
        expect(yield* textOf(page)).toContain("The session has ended.")
        yield* Effect.promise(() => other.goto(`${base}/console/security`))
        expect(other.url()).toContain("/console/sign-in")

        yield* type(page, "#current", Pages.password)
        yield* type(page, "#new", "password1234")
        yield* type(page, "#repeated", "password1234")
        yield* press(page, "form[action$=password] button.main")
        expect(yield* textOf(page)).toContain("too easy to guess")
        yield* look("security-wrong")
        yield* type(page, "#current", Pages.password)
        yield* type(page, "#new", "seven green lanterns hum")
        // The keyboard alone: over the box to the button.
        yield* type(page, "#repeated", "seven green lanterns hum")
        yield* Effect.promise(async () => {
          await page.keyboard.press("Tab")
          await page.keyboard.press("Tab")
          await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
        })
        expect(yield* textOf(page)).toContain("Your password is changed.")
        yield* look("security-changed")
        expect(wrong).toEqual([])
      }))

    it.effect("what looks at the pages finds planted faults", () =>
      Effect.gen(function*() {
        const page = yield* Browser.newPage()
        const base = yield* baseUrl
        yield* Effect.promise(async () => {
          await page.goto(`${base}/console/sign-in`)
          await page.evaluate("document.querySelector('label').remove()")
          await page.evaluate("document.querySelector('h1').style.width = '3000px'")
          await page.evaluate("document.querySelector('h1').style.color = '#222222'")
        })
        const onOneWidth = (text: string, width: string, color: string) =>
          Effect.promise(() =>
            page.evaluate(`{
              const chart = document.createElement("div")
              chart.className = "chart"
              chart.innerHTML = '<p class="${width}">${text}</p>'
              chart.firstChild.style.color = "${color}"
              document.querySelector("main").append(chart)
            }`)
          )
        const wrong = yield* Browser.inspect(page, "planted")
        const looks = (rule: string) =>
          wrong.filter((fault) => fault.includes(`: ${rule}: `)).map((fault) => fault.split(":")[0])
        expect(looks("label")).toEqual(["planted light", "planted phone-dark"])
        expect(looks("color-contrast")).toEqual(["planted phone-dark"])
        expect(wrong.filter((fault) => fault.endsWith("scrolls sideways")).length).toBe(2)
        yield* onOneWidth("on a screen", "on-screen", "#222222")
        yield* onOneWidth("on a telephone", "on-telephone", "#eeeeee")
        const further = yield* Browser.inspect(page, "planted")
        const said = (text: string) =>
          further.filter((fault) => fault.includes(`>${text}<`)).map((fault) => fault.split(":")[0])
        expect(said("on a screen")).toEqual(["planted dark"])
        expect(said("on a telephone")).toEqual(["planted phone"])
      }))

    it.effect("everything can be done by keyboard alone", () =>
      Effect.gen(function*() {
        const { base, email, id } = yield* stage()
        const page = yield* Browser.newPage()
        const keys = (...pressed: ReadonlyArray<"Tab" | "Enter" | "Space">) =>
          Effect.promise(async () => {
            for (const key of pressed) await page.keyboard.press(key)
          })
        const write = (text: string) => Effect.promise(() => page.keyboard.type(text))
        const focused = Effect.promise(() =>
          page.evaluate("document.activeElement.id || document.activeElement.className")
        )
        yield* Effect.promise(() => page.goto(`${base}/console/developer`))
        yield* keys("Tab")
        expect(yield* focused).toBe("skip")
        yield* keys("Tab")
        expect(yield* focused).toBe("sign-in-organization")
        yield* write(id)
        yield* keys("Tab")
        yield* write(email)
        yield* keys("Tab")
        yield* write(Pages.password)
        yield* Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
        expect(page.url()).toBe(`${base}/console/developer`)
        while ((yield* focused) !== "button main") yield* keys("Tab")
        yield* Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
        while ((yield* focused) !== "label") yield* keys("Tab")
        yield* write("By keyboard")
        while ((yield* focused) !== "main") yield* keys("Tab")
        yield* Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
        expect(yield* textOf(page)).toContain("Key created")
        while ((yield* focused) !== "secret-field") yield* keys("Tab")
        expect(yield* Effect.promise(() => page.evaluate("String(getSelection())"))).toMatch(/^osc_live_\w{49}$/)
      }))

    it.effect("the new key is whole on a telephone, and one click selects all of it", () =>
      Effect.gen(function*() {
        const { base, email, id } = yield* stage()
        const page = yield* Browser.newPage()
        yield* Effect.promise(() => page.setViewport({ width: 390, height: 844 }))
        yield* Effect.promise(() => page.goto(`${base}/console/developer/api-keys/new`))
        yield* signIn(page, id, email)
        expect(page.url()).toBe(`${base}/console/developer/api-keys/new`)
        yield* type(page, "#label", "Telephone")
        yield* press(page, "main button.main")
        const [shown, whole] = yield* Effect.promise(async () => {
          await page.click("#secret")
          return [
            await page.evaluate("String(getSelection())"),
            await page.$eval("#secret", (code) => {
              const { clientWidth, scrollWidth } = code as unknown as Record<"clientWidth" | "scrollWidth", number>
              return scrollWidth <= clientWidth
            })
          ]
        })
        expect(shown).toMatch(/^osc_live_\w{49}\s*$/)
        expect(whole).toBe(true)
        const secret = String(shown).trim()
        yield* Effect.promise(() => page.reload())
        expect(yield* textOf(page)).toContain("This form has made a key already")
        expect(yield* Effect.promise(() => page.content())).not.toContain(secret)
      }))

    it.effect("a browser gets to an application that redirects once more, wherever to, from every form that leads there", () =>
      Effect.gen(function*() {
        const { base, email, id } = yield* stage()
        const application = yield* callback
        const done = application.address.replace("/callback", "/done")
        const page = yield* Browser.newPage()
        const asked: Array<{ readonly url: string; readonly referer: string | undefined }> = []
        yield* Effect.promise(async () => {
          await page.setRequestInterception(true)
          page.on("request", (request) => {
            if (!request.url().startsWith("https://app.example/")) return void request.continue()
            asked.push({ url: request.url(), referer: request.headers()["referer"] })
            void request.respond({ status: 302, headers: { location: done } })
          })
        })
        const authorize = yield* register(base, "https://app.example/callback", "Helper")
        const leads = (action: Promise<unknown>) =>
          Effect.promise(async () => {
            await action
            await page.waitForFunction("document.title === 'Connected'", { timeout: 10_000 })
          })
        // The sign-in's form leads to the consent page, whose request is refused at the application.
        yield* Effect.promise(() => page.goto(`${authorize}&prompt=none`))
        yield* type(page, "#sign-in-organization", id)
        yield* type(page, "#sign-in-email", email)
        yield* type(page, "#sign-in-password", Pages.password)
        yield* leads(page.click("main button.main"))
        expect(new URL(asked[0]!.url).searchParams.get("error")).toBe("interaction_required")
        for (const [decision, member] of [["deny", "error"], ["allow", "code"]] as const) {
          yield* Effect.promise(async () => {
            await page.goto(authorize)
            await page.click("#by-all")
          })
          yield* leads(page.click(`button[value=${decision}]`))
          const { referer, url } = asked.at(-1)!
          expect([new URL(url).searchParams.has(member), referer]).toEqual([true, undefined])
        }
        // Going back asks again, and sends nothing anew.
        yield* Effect.promise(() => page.goBack())
        expect(page.url()).toBe(authorize)
        expect(yield* textOf(page)).toContain("Connect an application?")
        expect(asked.length).toBe(3)
      }))
  })
  layer(servedWithoutMail, { excludeTestServices: true })("of a console that sends no mail", withoutMail)
})
