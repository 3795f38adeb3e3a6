/** The organization's settings, requests to its support and an account's profile, in a browser. */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Browser from "../../support/http/browser.ts"
import * as Pages from "../../support/http/pages.ts"
import { act as operate } from "../../support/operator/operator.ts"
import * as World from "../../support/world.ts"
import { type It, press, signIn, stage, textOf, type } from "./browsed.ts"

export const settings = (it: It): void => {
  it.effect("the pages of the organization and of a profile fit every screen, and the owner changes what is there", () =>
    Effect.gen(function*() {
      const { base, email, id } = yield* stage()
      const { id: account } = yield* World.makeLiveAccount(id, { about: "A bio <b>that</b> goes on" })
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      const look = Effect.fnUntraced(function*(name: string) {
        yield* Effect.promise(() =>
          page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        )
        wrong.push(...(yield* Browser.inspect(page, name)))
      })
      const visit = (path: string) => Effect.promise(() => page.goto(`${base}${path}`))
      yield* visit("/console/organization")
      yield* signIn(page, id, email)
      yield* look("organization")
      yield* press(page, "form[action$=takeover-lockdown] button")
      expect(yield* textOf(page)).toContain("The takeover lockdown is off")
      yield* look("organization-off")
      yield* press(page, ".tabs li:nth-child(2) a")
      yield* look("subscription")
      yield* press(page, ".tabs li:nth-child(3) a")
      yield* Effect.promise(() => page.click("#security"))
      yield* press(page, "form[action$=preferences] button")
      expect(yield* textOf(page)).toContain("Nobody would get a mail about a takeover")
      yield* look("mails")
      yield* visit("/console/accounts")
      yield* press(page, ".warning a")
      expect(page.url()).toBe(`${base}/console/organization/mails`)
      yield* press(page, ".tabs li:nth-child(4) a")
      yield* look("support-empty")
      yield* press(page, ".head a.button")
      yield* type(page, "#subject", "What is <b>this</b>?")
      yield* type(page, "#message", " ")
      yield* press(page, "main form button.main")
      expect(yield* textOf(page)).toContain("Write what you ask")
      yield* look("support-refused")
      yield* type(page, "#message", "A first line\n\nand a second one")
      yield* press(page, "main form button.main")
      expect(yield* textOf(page)).toContain("The request is made.")
      yield* operate((requests) => requests.support_answer({ organization: id, number: 1, answer: "This is that." }))
      yield* Effect.promise(() => page.reload())
      yield* look("support-request")
      yield* visit("/console/organization/support")
      yield* look("support")
      yield* press(page, ".tabs li:nth-child(5) a")
      yield* look("archive-rules-none")
      yield* press(page, "main section form button.main")
      expect(yield* textOf(page)).toContain("The rule is made.")
      yield* press(page, "main section form button.main")
      expect(yield* textOf(page)).toContain("There is a rule for these accounts and chats")
      yield* look("archive-rules")
      yield* press(page, ".tabs li:nth-child(6) a")
      yield* look("archive-key-none")
      yield* press(page, "main section a.button")
      yield* type(page, "#password", Pages.password)
      yield* type(page, "#new", "harbour lantern archive")
      yield* type(page, "#repeated", "harbour lantern")
      yield* press(page, "main form button.main")
      expect(yield* textOf(page)).toContain("This is not the same as the new password")
      yield* look("archive-key-refused")
      yield* type(page, "#password", Pages.password)
      yield* type(page, "#new", "harbour lantern archive")
      yield* type(page, "#repeated", "harbour lantern archive")
      yield* press(page, "main form button.main")
      expect(yield* textOf(page)).toContain("The archive password is set.")
      yield* look("archive-key-code")
      yield* press(page, "main a.button.main")
      yield* look("archive-key")
      for (const way of ["change", "recover", "replace"]) {
        yield* visit(`/console/archive-key/${way}`)
        yield* look(`archive-key-${way}`)
      }
      yield* visit(`/console/accounts/${account}/profile`)
      yield* type(page, "#username", "1")
      yield* press(page, "form[action$=username] button")
      expect(yield* textOf(page)).toContain("There is a problem")
      yield* look("profile-refused")
      yield* type(page, "#username", "ada_lovelace")
      yield* press(page, "form[action$=username] button")
      expect(yield* textOf(page)).toContain("The username is changed")
      yield* look("profile")
      yield* visit("/console/journal")
      yield* press(page, "ul.events > li p.hint a")
      yield* look("event")
      expect(wrong).toEqual([])
    }))
}

export const withoutMail = (it: It): void => {
  it.effect("the link of an invitation is shown where no mail is sent, fits every screen, and opens", () =>
    Effect.gen(function*() {
      const { base, email, id } = yield* stage()
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
      yield* Effect.promise(() => page.goto(`${base}/console/people/invite`))
      yield* signIn(page, id, email)
      yield* type(page, "#email", "nora@example.com")
      yield* type(page, "#password", Pages.password)
      yield* press(page, "button[value=invite]")
      expect(yield* textOf(page)).toContain("Copy the link now, and give it to nora@example.com")
      yield* look("invitation-made")
      const link = yield* Effect.promise(() => page.$eval("#secret", (code) => code.textContent ?? ""))
      yield* press(page, "main p a.button.main")
      yield* Effect.promise(() =>
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
      )
      yield* look("invited-without-mail")
      const theirs = yield* Browser.newPage()
      yield* Effect.promise(() => theirs.goto(link))
      expect(yield* textOf(theirs)).toContain("You are invited")
      yield* Effect.promise(() => page.goto(`${base}/console/organization/mails`))
      yield* look("mails-without")
      expect(wrong).toEqual([])
    }))
}
