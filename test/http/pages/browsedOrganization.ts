/** The people and accounts of an organization, in a browser. */
import { expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as AdminLinks from "../../../src/operator/people/AdminLinks.ts"
import * as Browser from "../../support/http/browser.ts"
import * as Pages from "../../support/http/pages.ts"
import { meet } from "../../support/logins/logins.ts"
import { delivered, linkIn } from "../../support/mail/delivered.ts"
import * as World from "../../support/world.ts"
import { type It, press, signIn, stage, textOf, type } from "./browsed.ts"

export const organization = (it: It): void => {
  it.effect("the pages of people and of a forgotten password fit every screen, an admin is invited by keyboard, and joins by the mail", () =>
    Effect.gen(function*() {
      const { base, department, email, id } = yield* stage()
      yield* Effect.forEach(
        Array.from({ length: 25 }, (_, index) => index),
        (index) => World.makeAccount(id, { first_name: "Account", last_name: String(index) })
      )
      const person = yield* World.makePerson(id, "admin")
      const heir = yield* World.makePerson(id, "superadmin")
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
      const visit = Effect.fnUntraced(function*(path: string, name: string) {
        yield* Effect.promise(async () => {
          await page.goto(`${base}${path}`)
          await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        })
        yield* look(name)
      })
      yield* visit("/console/reset", "reset")
      yield* type(page, "#organization", id)
      yield* type(page, "#email", email)
      yield* press(page, "main button.main")
      yield* look("reset-sent")
      const { token } = yield* AdminLinks.makePasswordLink.run({ organization: id, email })
      yield* visit(`/console/reset?token=${Redacted.value(token)}`, "reset-link")
      yield* type(page, "#new", "short")
      yield* type(page, "#repeated", "short")
      yield* press(page, "main button.main")
      yield* look("reset-refused")
      yield* Effect.promise(() => page.goto(`${base}/console/people/invite`))
      yield* signIn(page, id, email)
      const focused = Effect.promise(() => page.evaluate("document.activeElement.id || document.activeElement.value"))
      const focus = Effect.fnUntraced(function*(wanted: string) {
        for (let steps = 0; (yield* focused) !== wanted && steps < 300; steps++) {
          yield* Effect.promise(() => page.keyboard.press("Tab"))
        }
      })
      const write = (text: string) => Effect.promise(() => page.keyboard.type(text))
      const enter = Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
      yield* look("invite")
      yield* focus("email")
      yield* write("nora@example.com")
      yield* focus(`department-${department}`)
      yield* Effect.promise(() => page.keyboard.press("Space"))
      yield* focus("password")
      yield* write("wrong horse battery")
      yield* focus("invite")
      yield* enter
      yield* look("invite-refused")
      yield* focus("password")
      yield* write(Pages.password)
      yield* focus("invite")
      yield* enter
      expect(yield* textOf(page)).toContain("The invitation is made.")
      yield* look("invited")
      // Who is invited opens the mail's link in a browser of their own, and is signed in by it.
      const mail = (yield* delivered).find(({ to }) => to[0] === "nora@example.com")
      const theirs = yield* Browser.newPage()
      yield* Effect.promise(() => theirs.goto(`${base}${linkIn(mail?.text ?? "")}`))
      wrong.push(...yield* Browser.inspect(theirs, "invitation"))
      for (const [text, name] of [["short", "invitation-refused"], ["seven green lanterns hum", null]] as const) {
        yield* type(theirs, "#new", text)
        yield* type(theirs, "#repeated", text)
        yield* press(theirs, "main button.main")
        if (name !== null) wrong.push(...yield* Browser.inspect(theirs, name))
      }
      expect(theirs.url()).toBe(`${base}/console`)
      yield* Effect.promise(() => theirs.goto(`${base}/console/accounts`))
      expect(yield* textOf(theirs)).toContain("Hopper")
      expect(yield* textOf(theirs)).not.toContain("Lovelace")
      expect(yield* Effect.promise(() => theirs.goBack().then(() => theirs.goBack()).then(() => theirs.content()))).not
        .toContain("lanterns")
      yield* visit("/console/people", "people")
      yield* visit(`/console/people/${person.id}`, "person")
      yield* visit(`/console/people/${heir.id}`, "heir")
      yield* visit("/console/people/departments", "departments")
      yield* visit(`/console/people/departments/${department}?find=account`, "department")
      expect(wrong).toEqual([])
    }))

  it.effect("accounts and the journal fit every screen, and a session is signed out by keyboard alone", () =>
    Effect.gen(function*() {
      const { accounts: [account], base, email, id } = yield* stage()
      const now = Date.now()
      yield* World.set(id, "account", account!, { locked_at: new Date(now), lock_reason: "a stranger" })
      yield* World.addRows("session", id, [
        {
          account_id: account,
          id: "1",
          service: true,
          current: true,
          device_model: "Server",
          seen_at: new Date(now)
        },
        {
          account_id: account,
          id: "2",
          device_model: "A device whose name goes on and on ".repeat(5),
          country: "<b>Nowhere</b>",
          review_deadline: new Date(now + 3_600_000),
          seen_at: new Date(now)
        }
      ])
      yield* World.addRows("termination", id, [
        { account_id: account, session_id: "3", device_label: "Phone", detected_at: new Date(now), actor: "external" }
      ])
      yield* World.sample(
        id,
        Array.from(
          { length: 400 },
          (_, n) => [new Date(now - n * 6_000_000), { protected: n % 7, paused: 2 }] as const
        )
      )
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      page.on("console", (message) => void wrong.push(message.text()))
      const look = Effect.fnUntraced(function*(name: string) {
        yield* Effect.promise(() =>
          page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        )
        wrong.push(...(yield* Browser.inspect(page, name)))
      })
      yield* Effect.promise(() => page.goto(`${base}/console`))
      yield* signIn(page, id, email)
      expect(page.url()).toBe(`${base}/console`)
      yield* look("attention")
      yield* Effect.promise(() => page.goto(`${base}/console/accounts`))
      yield* look("accounts")
      const chart = yield* Effect.promise(() =>
        page.$$eval(
          ".chart svg",
          (svgs) =>
            svgs.map((svg) =>
              (svg as unknown as { getBoundingClientRect(): { width: number } }).getBoundingClientRect().width
            )
        )
      )
      expect(chart.map((width) => width > 0)).toEqual([true, false])
      const focused = Effect.promise(() => page.evaluate("document.activeElement.textContent.trim()"))
      const focus = Effect.fnUntraced(function*(wanted: string) {
        for (let steps = 0; !String(yield* focused).startsWith(wanted); steps++) {
          if (steps === 100) return yield* Effect.die(new Error(`Nothing in focus is named ${wanted}`))
          yield* Effect.promise(() => page.keyboard.press("Tab"))
        }
      })
      const enter = Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
      yield* Effect.promise(() => page.reload())
      yield* focus("Ada Lovelace")
      yield* enter
      expect(page.url()).toBe(`${base}/console/accounts/${account}#sessions`)
      yield* focus("Sign out …")
      yield* Effect.promise(() => page.keyboard.press("Enter"))
      yield* focus("Sign out A device")
      yield* enter
      expect(yield* textOf(page)).toContain("The sign-out is queued")
      yield* look("account-done")
      yield* World.set(id, "account", account!, {
        archive_started_at: new Date(now - 600_000),
        archive_phase: "messages",
        archive_phase_at: new Date(now - 500_000),
        archive_dialogs_before: 1,
        archive_messages_before: 0,
        archive_bytes_before: 0,
        archive_dialogs_done: 41,
        archive_dialogs_total: 96,
        archive_error: "messenger_refused",
        archive_chats_review: 3
      })
      yield* Effect.promise(() => page.goto(`${base}/console/accounts/${account}`))
      yield* look("account")
      expect(yield* textOf(page)).toContain("Reading messages: 41 of 96 chats.")
      yield* Effect.promise(() => page.goto(`${base}/console/journal`))
      yield* look("journal")
      yield* Effect.promise(() => page.goto(`${base}/console/accounts?find=nobody`))
      yield* look("accounts-none")
      expect(wrong).toEqual([])
    }))

  it.effect("an account is connected by keyboard alone, and the pages of its login and its security fit every screen", () =>
    Effect.gen(function*() {
      const { base, email, id } = yield* stage()
      const person = yield* meet({
        security: {
          two_fa_password: Redacted.make("blue bicycle"),
          two_fa_hint: "A hint that goes on and on ".repeat(9)
        }
      })
      const page = yield* Browser.newPage()
      const wrong: Array<string> = []
      // The browser's own word for what a form was refused with.
      const refused = /^Failed to load resource: .* status of 4(?:00|09) /
      page.on("console", (message) => void (refused.test(message.text()) || wrong.push(message.text())))
      const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
      const keys = Effect.fnUntraced(function*(selector: string, text: string) {
        yield* Effect.promise(async () => {
          for (let steps = 0; !(await page.evaluate(`document.activeElement.matches("${selector}")`)); steps++) {
            if (steps === 100) throw new Error(`${selector} gets no focus`)
            await page.keyboard.press("Tab")
          }
          await page.keyboard.type(text)
          await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
        })
      })
      yield* Effect.promise(() => page.goto(`${base}/console/accounts/connect`))
      yield* signIn(page, id, email)
      yield* keys("#phone_number", "none")
      yield* look("connect-wrong")
      yield* type(page, "#phone_number", person.phone)
      yield* Effect.promise(() => Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]))
      yield* keys("#code", "000-000")
      yield* look("login-code")
      yield* keys("#code", yield* person.code)
      yield* look("login-password")
      yield* keys("#password", "blue bicycle")
      expect(yield* textOf(page)).toContain("The account is connected")
      yield* keys("a.button[href$='/security']", "")
      yield* keys("form[action$='/set-two-fa'] button", "")
      yield* look("account-security-wrong")
      yield* keys("#set-two-fa-current_password", "blue bicycle")
      yield* Effect.promise(() =>
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
      )
      yield* look("account-security")
      expect(wrong).toEqual([])
    }))
}
