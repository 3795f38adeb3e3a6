/** The scripts of the archive's pages in browsers: those that were built with the package, else bundled from the sources. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as crypto from "node:crypto"
import * as fs from "node:fs"

type Name = "page" | "worker" | "key-page" | "key-worker" | "download"

/** Of a checkout; a package does not have it. */
const bundler = new URL("../../../../scripts/bundle-viewer.mjs", import.meta.url)

const find = async (name: Name): Promise<string> => {
  const built = new URL(`./viewer/${name}.js`, import.meta.url)
  if (fs.existsSync(built)) return await fs.promises.readFile(built, "utf8")
  const { bundleOf }: { readonly bundleOf: (name: Name) => Promise<string> } = await import(bundler.href)
  return await bundleOf(name)
}

const digest = (script: string) => crypto.createHash("sha256").update(script).digest()

const served = (script: string, headers: Readonly<Record<string, string>>) => {
  const hash = digest(script)
  return {
    /** Names the text, so that browsers keep it until it changes. */
    version: hash.toString("hex").slice(0, 12),
    integrity: `sha256-${hash.toString("base64")}`,
    response: HttpServerResponse.setHeaders(
      HttpServerResponse.text(script, { contentType: "text/javascript; charset=utf-8" }),
      headers
    )
  }
}

const kept = "public, max-age=31536000, immutable"

/** A script of the site, made once for a process. */
const script = (path: `/console/${string}.js`, name: Name, headers: Readonly<Record<string, string>> = {}) => {
  const made = Effect.runSync(
    Effect.cached(
      Effect.map(Effect.promise(() => find(name)), (text) => served(text, { "cache-control": kept, ...headers }))
    )
  )
  const route = { method: "GET" as const, path, serve: () => Effect.map(made, ({ response }) => response) } as const
  return { made, path, route }
}

const policyOf = (...more: ReadonlyArray<string>) => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'wasm-unsafe-eval'",
    ...more,
    "require-trusted-types-for 'script'"
  ].join("; ")
})

const page = script("/console/archive/viewer.js", "page")

/** A worker has the policy of its own script: it calls the site, compiles the password's derivation, and runs no more. */
const worker = script("/console/archive/worker.js", "worker", policyOf("connect-src 'self'"))

const keyPage = script("/console/archive-key/page.js", "key-page")

/** The one script that has the archive password and the key: it connects to nothing. It is needed too seldom to be kept. */
const keyWorker = script("/console/archive-key/worker.js", "key-worker", { ...policyOf(), "cache-control": "no-cache" })

const downloadPage = script("/console/downloads.js", "download")

export const rootOf = (baseUrl: string): string => baseUrl.replace(/\/$/, "")

/** The addresses of a page's script and of the worker at the path, with the directives of the page's policy. */
const partsOf = Effect.fnUntraced(function*(baseUrl: string, page: ReturnType<typeof script>, path: string) {
  const root = rootOf(baseUrl)
  const { integrity, version } = yield* page.made
  return {
    script: `${root}${page.path}?v=${version}`,
    integrity,
    worker: `${root}${path}`,
    further: [`worker-src ${root}${path}`, "connect-src 'self'", "trusted-types viewer"]
  }
})

export const viewer = Effect.fnUntraced(function*(baseUrl: string) {
  const parts = yield* partsOf(baseUrl, page, worker.path)
  return { ...parts, worker: `${parts.worker}?v=${(yield* worker.made).version}` }
})

export const key = (baseUrl: string) => partsOf(baseUrl, keyPage, keyWorker.path)

/** The script of an export's page. */
export const downloads = (baseUrl: string) =>
  Effect.map(downloadPage.made, ({ integrity, version }) => ({
    script: `${rootOf(baseUrl)}${downloadPage.path}?v=${version}`,
    integrity,
    further: ["connect-src 'self'"]
  }))

export const routes = [page.route, worker.route, keyPage.route, keyWorker.route, downloadPage.route] as const
