/** The viewer in a browser whose page or scripts were altered on their way: the policy as the service sent it decides. */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import type { Page } from "puppeteer-core"
import { archivePassword } from "../../../support/archive/archivePassword.ts"
import { arrive, countOf, textOf, unlock, waitFor } from "./relayed.ts"

const hashOf = (text: string): string => `sha256-${crypto.createHash("sha256").update(text).digest("base64")}`

const altered = "globalThis.ran = 1"

const attributeOf = (page: Page, selector: string, name: string) =>
  Effect.promise(() => page.$eval(selector, (element, name) => element.getAttribute(name) ?? "", name))

/** Loads the page again, with one of its answers changed. */
const reloadWith = Effect.fnUntraced(function*(page: Page, path: string, change: (text: string) => string) {
  const cookie = (yield* Effect.promise(() => page.browserContext().cookies()))
    .map(({ name, value }) => `${name}=${value}`).join("; ")
  page.removeAllListeners("request")
  page.on("request", (request) => {
    const url = request.url()
    if (new URL(url).pathname !== path) return void request.continue()
    void fetch(url, { headers: { cookie } }).then(async (response) =>
      request.respond({
        status: response.status,
        headers: {
          "content-type": response.headers.get("content-type") ?? "",
          "content-security-policy": response.headers.get("content-security-policy") ?? ""
        },
        body: change(await response.text())
      })
    )
  })
  yield* Effect.promise(() => page.reload())
})

const hasRun = (page: Page) => Effect.promise(() => page.evaluate("typeof ran !== 'undefined'"))

/** Everything that the page refused by its policy. */
const refusals = (page: Page) => Effect.promise(() => page.evaluate("globalThis.refused.join(' ')"))

export const runsItsOwnTexts = Effect.gen(function*() {
  const { page } = yield* arrive("plain")
  yield* Effect.promise(() => page.setCacheEnabled(false))
  const answer = yield* Effect.promise(() => page.reload())
  const policy = new Map(
    (answer?.headers()["content-security-policy"] ?? "").split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ")
      return [name, sources.join(" ")] as const
    })
  )
  const address = yield* attributeOf(page, "script[src]", "src")
  const integrity = yield* attributeOf(page, "script[src]", "integrity")
  const worker = yield* attributeOf(page, "#viewer", "data-worker")
  const texts = yield* Effect.promise(() =>
    Promise.all([address, worker].map(async (each) => (await fetch(each)).text()))
  )
  expect(texts.map(hashOf)).toEqual([integrity, yield* attributeOf(page, "#viewer", "data-worker-integrity")])
  expect(Object.fromEntries(policy)).toEqual({
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": `'${integrity}' 'wasm-unsafe-eval'`,
    "require-trusted-types-for": "'script'",
    "trusted-types": "viewer",
    "worker-src": "blob:",
    "connect-src": "'self'",
    "img-src": "blob:",
    "media-src": "blob:",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'"
  })
  // Neither another policy of trusted types, nor a text as an address or as code.
  for (
    const text of [
      "trustedTypes.createPolicy('other', {})",
      "new Worker('/console/archive/worker.js')",
      "document.createElement('script').src = '/console/passkeys.js'",
      "document.createElement('script').text = 'ran = 1'",
      "document.body.innerHTML = '<b>'"
    ]
  ) {
    expect(
      yield* Effect.promise(() => page.evaluate(`(() => { try { ${text} } catch (error) { return error.name } })()`))
    ).toBe("TypeError")
  }

  yield* Effect.promise(() => page.setRequestInterception(true))
  yield* Effect.promise(() =>
    page.evaluateOnNewDocument(`globalThis.refused = []
      addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) =>
        refused.push(effectiveDirective + ":" + blockedURI))`)
  )
  const script = new URL(address).pathname
  yield* reloadWith(page, script, () => altered)
  expect([yield* hasRun(page), yield* countOf(page, "#archive-password")]).toEqual([false, 0])
  expect(yield* textOf(page, "#viewer")).toContain("If this text stays")

  // A page that names another script, with its right hash, and one without; and scripts within it.
  const foreign = `${new URL(address).origin}/console/passkeys.js`
  const text = yield* Effect.promise(async () => (await fetch(foreign)).text())
  yield* reloadWith(page, "/console/archive", (html) =>
    html
      .replace(address, foreign)
      .replace(integrity, hashOf(text))
      .replace("</body>", `<script>${altered}</script><script src="${foreign}?again"></script></body>`))
  expect([yield* hasRun(page), yield* countOf(page, "#archive-password")]).toEqual([false, 0])
  expect(yield* refusals(page)).toBe(
    `script-src-elem:${foreign} script-src-elem:inline script-src-elem:${foreign}?again`
  )

  yield* reloadWith(page, new URL(worker).pathname, (text) => `${altered};${text}`)
  yield* waitFor(page, "#archive-password")
  yield* unlock(page, archivePassword)
  yield* waitFor(page, ".unlock .problem")
  expect(yield* textOf(page, ".unlock .problem")).toContain("did not come as this page expects it")
})
