/** The scripts of the archive's viewer: those that were built with the package, else bundled from the sources. */
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import * as crypto from "node:crypto"
import * as fs from "node:fs"

const Scripts = Schema.Struct({ page: Schema.String, worker: Schema.String })

/** Of a checkout; a package does not have it. */
const bundler = new URL("../../../../scripts/bundle-viewer.mjs", import.meta.url)

const built = (name: string): URL => new URL(`./viewer/${name}.js`, import.meta.url)

const fromSources = async (): Promise<unknown> => {
  const { bundle }: { readonly bundle: () => Promise<unknown> } = await import(bundler.href)
  return await bundle()
}

const find = async (): Promise<typeof Scripts.Type> => {
  if (!fs.existsSync(built("page"))) return Schema.decodeUnknownSync(Scripts)(await fromSources())
  const [page, worker] = await Promise.all(
    ["page", "worker"].map((name) => fs.promises.readFile(built(name), "utf8"))
  )
  return { page: page ?? "", worker: worker ?? "" }
}

export const pagePath = "/console/archive/viewer.js"
export const workerPath = "/console/archive/worker.js"

const digest = (script: string) => crypto.createHash("sha256").update(script).digest()

const served = (script: string, headers: Readonly<Record<string, string>>) => {
  const hash = digest(script)
  return {
    /** Names the text, so that browsers keep it until it changes. */
    version: hash.toString("hex").slice(0, 12),
    integrity: `sha256-${hash.toString("base64")}`,
    response: HttpServerResponse.setHeaders(
      HttpServerResponse.text(script, { contentType: "text/javascript; charset=utf-8" }),
      { "cache-control": "public, max-age=31536000, immutable", ...headers }
    )
  }
}

/** A worker has the policy of its own script: it calls the site, compiles the password's derivation, and runs no more. */
const workerPolicy =
  "default-src 'none'; script-src 'wasm-unsafe-eval'; connect-src 'self'; require-trusted-types-for 'script'"

/** Made once for a process. */
const made = Effect.runSync(Effect.cached(Effect.map(Effect.promise(find), ({ page, worker }) => ({
  page: served(page, {}),
  worker: served(worker, { "content-security-policy": workerPolicy })
}))))

export const scripts = made

const route = (path: `/${string}`, name: "page" | "worker") =>
  ({
    method: "GET" as const,
    path,
    serve: () => Effect.map(made, (found) => found[name].response)
  }) as const

export const routes = [route(pagePath, "page"), route(workerPath, "worker")] as const
