import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "puppeteer-core"
import * as Browser from "../../support/http/browser.ts"
import * as World from "../../support/world.ts"
import { served, signIn, stage, textOf } from "./browsed.ts"

/** Lets the page's period pass; whether it has loaded again by then. */
const passed = (page: Page) =>
  Effect.promise(async () => {
    await page.evaluate("window.before = true; tick()")
    // A reload that was begun empties the page before it does anything else.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await page.waitForFunction("document.readyState === 'complete'")
    return await page.evaluate("window.before !== true")
  })

describe("the queue of reviews in a browser", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("refreshes itself while nobody uses the page, and never takes away what is ticked, focused or open", () =>
      Effect.gen(function*() {
        const { accounts: [account], base, email, id } = yield* stage()
        const add = (session: string, device_model: string) =>
          World.addRows("session", id, [{
            account_id: account,
            id: session,
            device_model,
            review_deadline: new Date(Date.now() + 3_600_000),
            seen_at: new Date()
          }])
        yield* add("1", "First device")
        const page = yield* Browser.newPage()
        const wrong: Array<string> = []
        page.on("console", (message) => void wrong.push(message.text()))
        yield* Effect.promise(() => page.evaluateOnNewDocument("window.setInterval = (run) => { window.tick = run }"))
        yield* Effect.promise(() => page.goto(`${base}/console/reviews`))
        yield* signIn(page, id, email)
        wrong.push(...(yield* Browser.inspect(page, "reviews")))
        expect(yield* textOf(page)).toContain("Refresh this page every 30 seconds")
        yield* add("2", "Second device")
        expect(yield* passed(page)).toBe(true)
        expect(yield* textOf(page)).toContain("Second device")
        expect(page.url()).toBe(`${base}/console/reviews`)

        const run = (script: string) => Effect.promise(() => page.evaluate(script))
        const first = "document.querySelector('main form [type=checkbox]')"
        for (
          const [use, release] of [
            [`${first}.checked = true`, `${first}.checked = false`],
            [
              "document.querySelector('main details').open = true",
              "document.querySelector('main details').open = false"
            ],
            ["document.querySelector('main a').focus()", "document.activeElement.blur()"],
            ["getSelection().selectAllChildren(document.querySelector('h1'))", "getSelection().removeAllRanges()"]
          ] as const
        ) {
          yield* run(use)
          expect([use, yield* passed(page)]).toEqual([use, false])
          yield* run(release)
        }
        yield* Effect.promise(() => page.click("[data-refresh] input"))
        expect(yield* passed(page)).toBe(false)
        yield* Effect.promise(() => page.reload())
        expect(yield* passed(page)).toBe(false)
        yield* Effect.promise(() => page.click("[data-refresh] input"))
        expect(yield* passed(page)).toBe(true)
        expect(wrong).toEqual([])
      }))
  })
})
