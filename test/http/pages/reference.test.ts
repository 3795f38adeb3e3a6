import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as http from "node:http"
import * as ReferencePage from "../../../src/http/ReferencePage.ts"
import * as Browser from "../../support/http/browser.ts"

/** The page on a port of its own, as the service sends it. */
const served = Effect.gen(function*() {
  const response = HttpServerResponse.toWeb(yield* yield* ReferencePage.make)
  const html = yield* Effect.promise(() => response.text())
  const headers = Object.fromEntries(response.headers)
  const server = http.createServer((_, answer) => answer.writeHead(200, headers).end(html))
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/docs`
})

describe("the reference page in a browser", () => {
  it.live("fits a telephone of 390 pixels, with its guides and its operations", () =>
    Effect.gen(function*() {
      const address = yield* served
      const page = yield* Browser.newPage()
      const [text, ...widths] = yield* Effect.promise(async () => {
        await page.setViewport({ width: 390, height: 844 })
        await page.goto(address)
        await page.waitForFunction(`document.body.innerText.includes("Everything an admin can do")`)
        // The page lays itself out in steps, its operations last; what counts is what it comes to.
        await page.waitForSelector("code.language-curl")
        const fits = "document.documentElement.scrollWidth === document.documentElement.clientWidth"
        await page.waitForFunction(fits, { timeout: 10_000 }).catch(() => null)
        const shown = await page.evaluate(
          "[document.body.innerText, document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        ) as readonly [string, number, number]
        const picture = process.env["SCREENSHOTS"]
        if (picture !== undefined) await page.screenshot({ path: `${picture}/reference.png` })
        return shown
      })
      expect(widths).toEqual([390, 390])
      for (const guide of ["Authentication", "Errors", "Paging", "OAuth"]) expect(text).toContain(guide)
    }).pipe(Effect.scoped, Effect.provide(Browser.Chromium.layer)), 120_000)
})
