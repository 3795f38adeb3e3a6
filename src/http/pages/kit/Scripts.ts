/** The scripts of the pages: each is a file of the site that its address names by its text. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as crypto from "node:crypto"
import type { Site } from "../../../transport/Site.ts"

/** The script as the site serves it at the path, and its whole address, which a page's policy names. */
export const make = (path: `/console/${string}.js`, script: string) => {
  const version = crypto.createHash("sha256").update(script).digest("hex").slice(0, 12)
  const response = HttpServerResponse.setHeader(
    HttpServerResponse.text(script, { contentType: "text/javascript; charset=utf-8" }),
    "cache-control",
    "public, max-age=31536000, immutable"
  )
  return {
    addressAt: ({ baseUrl }: Site): string => `${baseUrl.replace(/\/$/, "")}${path}?v=${version}`,
    route: { method: "GET" as const, path, serve: () => Effect.succeed(response) } as const
  }
}
