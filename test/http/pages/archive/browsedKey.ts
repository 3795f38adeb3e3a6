/** The archive password's forms in a browser whose traffic is read. */
import { expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Page } from "puppeteer-core"
import { unwrapSeed } from "../../../../src/archive/KeyWraps.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../../src/ports/archive/ArchiveKeys.ts"
import { Db } from "../../../../src/ports/Db.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as World from "../../../support/world.ts"
import { press, signIn, type } from "../browsed.ts"
import { click, pressKey, textOf, Traffic, unlock, waitFor } from "./relayed.ts"

const first = "harbour lantern archive"
const second = "meadow copper violin"
const third = "glacier saddle orchid"

/** The seed of the key, which nobody in the service can open. */
const seedOf = Effect.fnUntraced(function*(organization: string, password: string) {
  const id = OrganizationId.make(organization)
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const key = yield* db.read(id, keys.current(id))
  const wrap = yield* db.read(id, keys.wrap(key!, "password"))
  const { bytes } = yield* unwrapSeed({ ...key!, kind: "password" }, wrap!, Redacted.make(password))
  return Buffer.from(Redacted.value(bytes))
})

/** A text as it may be written in a request. */
const formsOf = (text: string) => [text, encodeURIComponent(text), new URLSearchParams({ text }).toString().slice(5)]

const fill = Effect.fnUntraced(function*(page: Page, typed: Readonly<Record<string, string>>) {
  for (const [id, text] of Object.entries({ password: Pages.password, ...typed })) yield* type(page, `#${id}`, text)
})

/** Fills the form of a way in, sends it, and answers the recovery code. */
const submit = Effect.fnUntraced(function*(page: Page, typed: Readonly<Record<string, string>>) {
  yield* waitFor(page, "main form.card button:enabled")
  yield* fill(page, typed)
  yield* click(page, "main form.card button:enabled")
  yield* waitFor(page, "#secret-field")
  return yield* textOf(page, "#secret")
})

/** An owner at the form that sets the archive password. */
const arrive = Effect.fnUntraced(function*(scripts: boolean) {
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  yield* Pages.givePassword(id, admins.owner.id)
  const { port } = yield* Traffic
  const page = yield* Browser.newPage()
  yield* Effect.promise(() => page.setJavaScriptEnabled(scripts))
  const visit = (path: string) => Effect.promise(() => page.goto(`http://127.0.0.1:${port}${path}`))
  yield* visit("/console/archive-key/set")
  yield* signIn(page, id, yield* Pages.emailOf(id, admins.owner.id))
  return { id, page, visit }
})

const opensBy = Effect.fnUntraced(function*(page: Page, password: string) {
  yield* waitFor(page, "#archive-password")
  yield* unlock(page, password)
  yield* waitFor(page, ".chat-list")
})

/** Has the service get the next form that the page sends, and the page no answer to it. */
const losingAnswer = (page: Page) =>
  Effect.promise(async () => {
    await page.setRequestInterception(true)
    page.on("request", async (request) => {
      if (request.method() !== "POST") return await request.continue()
      const cookies = await page.browserContext().cookies()
      const headers = {
        ...request.headers(),
        cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ")
      }
      page.removeAllListeners("request")
      const { status } = await fetch(request.url(), { method: "POST", headers, body: request.postData() ?? "" })
      expect(status).toBe(200)
      await request.abort()
      await page.setRequestInterception(false)
    })
  })

/** Sets, changes and recovers the archive password, and reads all that the browser sends. */
export const makeOwnKey = Effect.gen(function*() {
  const { id, page, visit } = yield* arrive(true)
  const errors: Array<string> = []
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 403|ERR_FAILED/.test(message.text())) errors.push(message.text())
  })
  const wrong: Array<string> = []
  const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))

  yield* waitFor(page, "main form.card button:enabled")
  expect(yield* textOf(page, "main")).toContain("stays in this browser")
  yield* fill(page, { password: "not the one", new: first, repeated: first })
  yield* click(page, "main form.card button:enabled")
  yield* waitFor(page, "#password-fault")
  yield* look("own-key-refused")
  yield* fill(page, { new: first, repeated: first })
  yield* losingAnswer(page)
  yield* click(page, "main form.card button:enabled")
  yield* waitFor(page, "main div.problem")
  expect(yield* textOf(page, "main div.problem")).toContain("Send the form again as it is")
  yield* click(page, "main form.card button:enabled")
  yield* waitFor(page, "#secret-field")
  const code = yield* textOf(page, "#secret")
  expect(code).toMatch(/^(?:[0-9A-Z]{4}-){12}[0-9A-Z]{4}$/)
  yield* look("own-key-code")
  const seed = yield* seedOf(id, first)

  yield* visit("/console/archive-key/change")
  yield* waitFor(page, "main form.card button:enabled")
  yield* fill(page, { secret: "not the one", new: second, repeated: second })
  yield* click(page, "main form.card button:enabled")
  yield* waitFor(page, "#secret-fault")
  expect(yield* textOf(page, "#secret-fault")).toBe("This is not the archive password.")
  const changed = yield* submit(page, { secret: first, new: second, repeated: second })
  yield* visit("/console/archive-key/recover")
  const recovered = yield* submit(page, { secret: changed, new: third, repeated: third })
  yield* visit("/console/archive")
  yield* opensBy(page, third)
  expect((yield* seedOf(id, third)).equals(seed)).toBe(true)

  const traffic = (yield* Traffic).text()
  expect(traffic).toContain("POST /console/archive-key/recover")
  // The worker's policy.
  expect(traffic).toContain("default-src 'none'; script-src 'wasm-unsafe-eval'; require-trusted-types-for 'script'")
  expect(formsOf(Pages.password).some((form) => traffic.includes(form))).toBe(true)
  const secrets = [first, second, third, code, changed, recovered, code.replaceAll("-", "")].flatMap(formsOf)
  for (const secret of [...secrets, seed.toString("base64"), seed.toString("hex"), seed.toString("latin1")]) {
    expect([secret, traffic.includes(secret)]).toEqual([secret, false])
  }
  expect(
    yield* Effect.promise(() => page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]"))
  ).toEqual([0, 0, ""])
  expect([errors, wrong]).toEqual([[], []])
})

/** Sets the archive password without a script, and changes it by the form that is sent to the service. */
export const leaveToService = Effect.gen(function*() {
  const { id, page, visit } = yield* arrive(false)
  expect(yield* textOf(page, "main")).toContain("passes through the service once")
  expect(yield* textOf(page, "main")).not.toContain("A script of this page")
  yield* fill(page, { new: first, repeated: first })
  yield* press(page, "main form.card button:enabled")
  expect(yield* textOf(page, "#secret")).toMatch(/^(?:[0-9A-Z]{4}-){12}[0-9A-Z]{4}$/)
  yield* Effect.promise(() => page.setJavaScriptEnabled(true))

  // The script does not load: nothing is sent, not by the keyboard either.
  yield* Effect.promise(async () => {
    await page.setRequestInterception(true)
    page.on("request", (request) => request.url().includes("page.js") ? request.abort() : request.continue())
  })
  yield* visit("/console/archive-key/change")
  yield* fill(page, { secret: first, new: third, repeated: third })
  yield* Effect.promise(() => page.evaluate("addEventListener('submit', () => { globalThis.sent = true })"))
  yield* pressKey(page, "Enter")
  expect(yield* Effect.promise(() => page.evaluate("typeof sent"))).toBe("undefined")
  expect(yield* textOf(page, "main")).toContain("load the page again")
  yield* Effect.promise(async () => {
    page.removeAllListeners("request")
    await page.setRequestInterception(false)
  })

  yield* Effect.promise(() => page.evaluateOnNewDocument("delete globalThis.WebAssembly"))
  yield* visit("/console/archive-key/change")
  yield* waitFor(page, "#key-place a[href='?by=service']")
  expect(yield* textOf(page, "#key-place")).toContain("It lacks WebAssembly")
  yield* press(page, "#key-place a")
  yield* fill(page, { secret: first, new: second, repeated: second })
  yield* press(page, "main form.card button.main")
  expect((yield* seedOf(id, second)).length).toBe(32)
})
