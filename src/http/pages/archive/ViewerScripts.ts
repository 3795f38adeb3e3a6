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

const page = script("/console/archive/viewer.js", "page")

/** The page runs it from the text that it has checked, under its own policy. */
const worker = script("/console/archive/worker.js", "worker")

const keyPage = script("/console/archive-key/page.js", "key-page")

/**
 * The one script that has the archive password and the key: its own policy lets it compile the password's derivation and
 * connect to nothing. It is needed too seldom to be kept.
 */
const keyWorker = script("/console/archive-key/worker.js", "key-worker", {
  "content-security-policy": "default-src 'none'; script-src 'wasm-unsafe-eval'; require-trusted-types-for 'script'",
  "cache-control": "no-cache"
})

const downloadPage = script("/console/downloads.js", "download")

export const rootOf = (baseUrl: string): string => baseUrl.replace(/\/$/, "")

/** The address of a script, and the hash that its text must have. */
const placeOf = (baseUrl: string, { made, path }: ReturnType<typeof script>) =>
  Effect.map(made, ({ integrity, version }) => ({ script: `${rootOf(baseUrl)}${path}?v=${version}`, integrity }))

const withWorker = (source: string) => [`worker-src ${source}`, "connect-src 'self'", "trusted-types viewer"]

/**
 * Policies bind no worker to a hash: the page checks its text and starts what it has checked. Such a worker has the
 * page's policy, which lets it compile the password's derivation.
 */
export const viewer = Effect.fnUntraced(function*(baseUrl: string) {
  return {
    ...yield* placeOf(baseUrl, page),
    worker: yield* placeOf(baseUrl, worker),
    scriptSources: ["'wasm-unsafe-eval'"],
    further: withWorker("blob:")
  }
})

export const key = (baseUrl: string) => {
  const worker = `${rootOf(baseUrl)}${keyWorker.path}`
  return Effect.map(placeOf(baseUrl, keyPage), (place) => ({ ...place, worker, further: withWorker(worker) }))
}

/** The script of an export's page. */
export const downloads = (baseUrl: string) =>
  Effect.map(placeOf(baseUrl, downloadPage), (place) => ({ ...place, further: ["connect-src 'self'"] }))

export const routes = [page.route, worker.route, keyPage.route, keyWorker.route, downloadPage.route] as const
