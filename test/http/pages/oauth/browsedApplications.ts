/** Applications that an admin consents to, in a browser. */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as World from "../../../support/world.ts"
import { answer, callback, type It, known, press, register, signIn, stage, textOf, type } from "../browsed.ts"

export const applications = (it: It): void => {
  it.effect("an admin grants what they tick after a wrong password, denies, and disconnects", () =>
    Effect.gen(function*() {
      const { accounts, base, email, id } = yield* stage()
      const application = yield* callback
      const authorize = yield* register(base, application.address, "<b>Helper</b> of many words")
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
      yield* Effect.promise(() => page.goto(authorize))
      yield* signIn(page, id, email)
      expect(page.url()).toBe(authorize)
      const shown = yield* textOf(page)
      expect(shown).toContain("<b>Helper</b> of many words")
      expect(shown).toContain(new URL(application.address).hostname)
      yield* look("consent")

      yield* answer(page, "button[value=deny]")
      const denied = new URL(application.asked[0]!, application.address).searchParams
      expect([denied.get("error"), denied.get("state"), denied.get("iss")]).toEqual([
        "access_denied",
        "a state",
        base
      ])
      expect(page.url()).toMatch(/\/done$/)

      yield* Effect.promise(() => page.goto(authorize))
      yield* Effect.promise(() => page.click(`#account-${accounts[0]}`))
      yield* Effect.promise(() => page.click("#scope-accounts-write"))
      yield* type(page, "#password", "wrong")
      yield* press(page, "button[value=allow]")
      expect(yield* textOf(page)).toContain("The console password is incorrect.")
      yield* look("consent-wrong")
      yield* type(page, "#password", Pages.password)
      yield* answer(page, "button[value=allow]")
      const granted = new URL(application.asked.at(-2)!, application.address).searchParams
      expect([granted.get("error"), granted.get("state"), granted.has("code")]).toEqual([null, "a state", true])
      expect(page.url()).toMatch(/\/done$/)
      yield* Effect.promise(() => page.goto(authorize))
      expect(yield* textOf(page)).toContain("This application is connected already")
      yield* look("consent-again")

      yield* Effect.promise(() => page.goto(`${base}/console/developer`))
      expect(yield* textOf(page)).toContain("1 connection that was never used")
      yield* Effect.promise(() => page.click("section[aria-labelledby=connections] summary"))
      expect(yield* textOf(page)).toContain("<b>Helper</b> of many words")
      yield* Effect.promise(() => page.click("section[aria-labelledby=connections] li summary"))
      yield* look("developer-connection")
      yield* press(page, "section[aria-labelledby=connections] button.danger")
      expect(yield* textOf(page)).toContain("The application is disconnected.")
      expect(wrong).toEqual([])
    }))

  it.effect("a long list is searched without losing what is ticked, and Enter grants nothing on the way", () =>
    Effect.gen(function*() {
      const { accounts, base, email, id } = yield* stage()
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) => World.makeAccount(id, { first_name: "Account", last_name: String(index) })
      )
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
      const authorize = yield* register(
        base,
        known,
        `Bank”? Yes ${"e\u0335\u0336\u0337\u0338".repeat(15)} \u05d0\u05d1\u05d2`
      )
      yield* Effect.promise(() => page.goto(authorize))
      yield* signIn(page, id, email)
      yield* look("consent-long")
      yield* Effect.promise(async () => {
        await page.click(`#account-${accounts[0]}`)
        await page.click("#scope-security-write")
      })
      const enter = () => Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
      yield* type(page, "#find-account", "account 2")
      yield* enter()
      const listed = () =>
        Effect.promise(() =>
          page.$$eval(
            ".by-accounts input[type=checkbox]",
            (boxes) => boxes.map((box) => (box as unknown as { checked: boolean }).checked)
          )
        )
      expect(yield* listed()).toEqual([true, ...Array.from({ length: 11 }, () => false)])
      yield* look("consent-found")
      yield* type(page, "#password", Pages.password)
      yield* enter()
      expect(yield* textOf(page)).toContain("nothing is granted yet")
      expect(yield* listed()).toEqual([true, ...Array.from({ length: 11 }, () => false)])
      expect(
        yield* Effect.promise(() =>
          page.$eval("#scope-security-write", (box) => (box as unknown as { checked: boolean }).checked)
        )
      )
        .toBe(true)
      expect(wrong).toEqual([])
    }))
}
