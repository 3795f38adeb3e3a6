/** A headless Chromium: the one that CHROMIUM_PATH names, else the one that npm has installed. */
import chromium from "@sparticuz/chromium"
import { Context, Effect, Layer, type Scope } from "effect"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import { type Browser, launch, type Page } from "puppeteer-core"

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A document lives for seconds: making better code for axe takes a quarter of a page's processor time, and saves less.
  "--js-flags=--no-opt --no-maglev"
]

/** A browser that is gone when the scope closes. */
const open = (more: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () =>
      launch({
        executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
        args: [...flags, ...more],
        headless: true
      })
    ),
    (browser) => Effect.promise(() => browser.close())
  )

/** The browser of a file. */
export class Chromium extends Context.Service<Chromium, Browser>()("test/support/http/browser/Chromium") {
  static readonly layer = Layer.effect(Chromium, open([]))
  /** With further flags. */
  static readonly layerWith = (...more: ReadonlyArray<string>) => Layer.effect(Chromium, open(more))
}

/** A page with a session of its own. */
export const newPage = Effect.fnUntraced(function*(): Effect.fn.Return<Page, never, Chromium | Scope.Scope> {
  const browser = yield* Chromium
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => browser.createBrowserContext()),
    (context) => Effect.promise(() => context.close())
  )
  return yield* Effect.promise(async () => {
    const page = await context.newPage()
    await page.setViewport({ width: 1100, height: 900 })
    return page
  })
})

/** Half as long as what the package exports, and read by the browser at each page. */
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What axe finds wrong with the page as it is, by the rules of a look. */
const violations = (page: Page, rules: object) =>
  Effect.promise(async () => {
    if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe)
    const options = JSON.stringify({ ...rules, resultTypes: ["violations"], preload: false })
    const found: ReadonlyArray<string> = await page.evaluate(
      `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`
    ) as ReadonlyArray<string>
    return found
  })

interface Look {
  readonly name: string
  readonly width: number
  readonly scheme: "light" | "dark"
  readonly rules: object
}

/** Each width and each scheme: a width changes no colour, and a scheme nothing else. */
const looks: ReadonlyArray<Look> = [
  { name: "light", width: 1100, scheme: "light", rules: {} },
  { name: "phone-dark", width: 360, scheme: "dark", rules: {} }
]

const colours = { runOnly: ["color-contrast", "link-in-text-block"] }

/** The looks that check what they alone show: the colours of the other scheme, and of another width. */
const furtherLooks: ReadonlyArray<Look> = [
  { name: "dark", width: 1100, scheme: "dark", rules: colours },
  { name: "phone", width: 360, scheme: "light", rules: colours }
]

/** Which elements of the page are shown. */
const shown = "Array.from(document.querySelectorAll('body *'), (one) => Number(one.checkVisibility())).join('')"

const folder = process.env["SCREENSHOTS"]

const take = async (page: Page, { scheme, width }: Pick<Look, "width" | "scheme">) => {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
  await page.setViewport({ width, height: 900 })
}

/** What is wrong with one look of the page, and which elements it shows. */
const inspectLook = Effect.fnUntraced(function*(page: Page, name: string, look: Look) {
  yield* Effect.promise(async () => {
    await take(page, look)
    if (folder === undefined) return
    fs.mkdirSync(folder, { recursive: true })
    const picture = path.join(folder, `${name}-${look.name}.png`)
    await page.screenshot({ path: picture as `${string}.png`, fullPage: true })
  })
  const found = yield* violations(page, look.rules)
  const wide = yield* Effect.promise(() =>
    page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
  )
  return {
    shown: yield* Effect.promise(() => page.evaluate(shown)),
    wrong: [...found, ...(wide === true ? ["scrolls sideways"] : [])].map((each) => `${name} ${look.name}: ${each}`)
  }
})

/**
 * What is wrong with the page in light and dark, on a screen and on a telephone: axe's findings, and sideways
 * scrolling. With SCREENSHOTS naming a folder, each look is kept there as a picture.
 */
export const inspect = Effect.fnUntraced(function*(page: Page, name: string) {
  const all = yield* Effect.forEach(looks, (look) => inspectLook(page, name, look))
  if (folder !== undefined || new Set(all.map(({ shown }) => shown)).size > 1) {
    all.push(...(yield* Effect.forEach(furtherLooks, (look) => inspectLook(page, name, look))))
  }
  yield* Effect.promise(() => take(page, { width: 1100, scheme: "light" }))
  return all.flatMap(({ wrong }) => wrong)
})
