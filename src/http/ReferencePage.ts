/** The reference page: the document in readable form, loaded only from this server. */
import { Effect, Layer } from "effect"
import { HttpEffect, HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import * as crypto from "node:crypto"
import { ServedOperations } from "../operations/index.ts"
import { apiOf } from "./OpenApiDocument.ts"

export const path = "/docs"

const inlineScript = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g

const hash = (text: string): string => `'sha256-${crypto.createHash("sha256").update(text).digest("base64")}'`

/** The page's own scripts and nothing else run; it calls this server and nothing else. */
const policy = (html: string): string =>
  [
    "default-src 'none'",
    `script-src ${[...html.matchAll(inlineScript)].map(([, script = ""]) => hash(script)).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/**
 * The page as a reader needs it: no font, tool or service of others. Without the rule, an empty strip of each response
 * is as wide as the page and begins right of its edge: a telephone would scroll sideways.
 */
const appearance = {
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  customCss: ".parameter-item-trigger { position: relative }"
}

/** The page, made at the first request: its script is some megabytes. */
export const make = Effect.flatMap(ServedOperations, (operations) =>
  Effect.cached(Effect.gen(function*() {
    const router = yield* HttpRouter.make
    yield* Effect.scoped(
      Layer.build(HttpApiScalar.layer(apiOf(operations), {
        path,
        scalar: appearance
      })).pipe(Effect.provideService(HttpRouter.HttpRouter, router))
    )
    // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- a router does not say how its routes fail
    const handler = HttpEffect.toWebHandler(router.asHttpEffect())
    const html = yield* Effect.promise(async () => (await handler(new Request(`http://localhost${path}`))).text())
    return HttpServerResponse.setHeaders(HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8" }), {
      "content-security-policy": policy(html),
      "referrer-policy": "no-referrer",
      "cache-control": "public, max-age=3600"
    })
  })))
