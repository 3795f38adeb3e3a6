import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import * as crypto from "node:crypto"
import * as http from "node:http"
import type { Page } from "puppeteer-core"
import * as Admins from "../../src/administration/Admins.ts"
import * as Site from "../../src/edge/Site.ts"
import * as Server from "../../src/http/Server.ts"
import { KnownAssistants } from "../../src/oauth/Ports.ts"
import { ConsoleAddress } from "../../src/ports/ConsoleAddress.ts"
import * as Browser from "../support/browser.ts"
import { pglite } from "../support/database.ts"
import { delivered, linkIn } from "../support/delivered.ts"
import { meet } from "../support/logins.ts"
import * as Pages from "../support/pages.ts"
import * as World from "../support/world.ts"

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0
const baseUrl = Effect.map(HttpServer.HttpServer, (server) => `http://127.0.0.1:${portOf(server)}`)

/** The callback address of an assistant that is known. */
const known = "https://assistant.example/callback"

const served = Server.layer.pipe(
  Layer.provideMerge(Layer.effect(ConsoleAddress, Effect.map(Site.Sites, ({ addressOf }) => addressOf))),
  Layer.provideMerge(
    Layer.effect(Site.Sites, Effect.map(baseUrl, (baseUrl) => Site.make([{ baseUrl, organizationId: null }])))
  ),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Layer.succeed(KnownAssistants, new Map([[known, "assistant_a" as const]]))),
  Layer.provideMerge(World.core(pglite)),
  Layer.provideMerge(Browser.Chromium.layer)
)

/** An application's own server, which answers its callback by one more redirect, as many do. */
const callback = Effect.acquireRelease(
  Effect.callback<{ readonly server: http.Server; readonly address: string; readonly asked: Array<string> }>(
    (resume) => {
      const asked: Array<string> = []
      const server = http.createServer((request, response) => {
        asked.push(request.url ?? "")
        if (request.url?.startsWith("/callback") === true) response.writeHead(302, { location: "/done" }).end()
        else response.writeHead(200, { "content-type": "text/html" }).end("<title>Connected</title>")
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ server, address: `http://127.0.0.1:${port}/callback`, asked }))
      })
    }
  ),
  ({ server }) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
)

const press = (page: Page, selector: string) =>
  Effect.promise(() => Promise.all([page.waitForNavigation(), page.click(selector)]))

/** Presses a button of the consent page, and gets to where the application ends. */
const answer = (page: Page, selector: string) =>
  Effect.promise(async () => {
    await page.click(selector)
    await page.waitForFunction("document.title === 'Connected'")
  })

const type = (page: Page, selector: string, text: string) =>
  Effect.promise(async () => {
    await page.$eval(selector, (input) => {
      ;(input as unknown as { value: string }).value = ""
    })
    await page.type(selector, text)
  })

const textOf = (page: Page) =>
  Effect.promise(() => page.$eval("main", (main) => (main as unknown as { innerText: string }).innerText))

const signIn = Effect.fnUntraced(function*(page: Page, organization: string, email: string) {
  yield* type(page, "#sign-in-organization", organization)
  yield* type(page, "#sign-in-email", email)
  yield* type(page, "#sign-in-password", Pages.password)
  yield* press(page, "main button.main")
})

/** An organization whose owner has a console password, with two accounts and a department. */
const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization({ name: "Acme & Sons" })
  yield* Pages.givePassword(id, admins.owner.id)
  const department = yield* World.makeDepartment(id, "Sales <b>bold</b>")
  const accounts = [
    yield* World.makeAccount(id, { first_name: "Ada", last_name: "Lovelace" }),
    yield* World.makeAccount(id, { first_name: "Grace", last_name: "Hopper", facts: { department_id: department } })
  ]
  return { id, admins, accounts, department, email: yield* Pages.emailOf(id, admins.owner.id), base: yield* baseUrl }
})

const register = Effect.fnUntraced(function*(base: string, redirect: string, name: string) {
  const { client_id } = yield* Effect.promise(async () => {
    const response = await fetch(`${base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: "none" })
    })
    return await response.json() as { client_id: string }
  })
  const verifier = crypto.randomBytes(32).toString("base64url")
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: redirect,
    code_challenge: crypto.createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${base}/v1`,
    state: "a state"
  })
  return `${base}/oauth/authorize?${query}`
})

describe("the pages in a browser", () => {
  layer(served, { excludeTestServices: true })((it) => {
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

    it.effect("an admin is told of a key made elsewhere, ends another session and changes the password", () =>
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
        const { token } = yield* Admins.makePasswordLink.run({ organization: id, email })
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
        expect(theirs.url()).toBe(`${base}/console/accounts`)
        expect(yield* textOf(theirs)).toContain("Hopper")
        expect(yield* textOf(theirs)).not.toContain("Lovelace")
        expect(yield* Effect.promise(() => theirs.goBack().then(() => theirs.content()))).not.toContain("lanterns")
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
        expect(page.url()).toBe(`${base}/console/accounts`)
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
        yield* Effect.promise(() => page.goto(`${base}/console/accounts/${account}`))
        yield* look("account")
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

    it.effect("what looks at the pages finds planted faults", () =>
      Effect.gen(function*() {
        const page = yield* Browser.newPage()
        const base = yield* baseUrl
        yield* Effect.promise(async () => {
          await page.goto(`${base}/console/sign-in`)
          await page.evaluate("document.querySelector('label').remove()")
          await page.evaluate("document.querySelector('h1').style.width = '3000px'")
        })
        const wrong = yield* Browser.inspect(page, "planted")
        expect(wrong.some((fault) => fault.startsWith("planted dark: label:"))).toBe(true)
        expect(wrong.filter((fault) => fault.endsWith("scrolls sideways")).length).toBe(4)
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
})
