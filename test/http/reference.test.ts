import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import * as ReferencePage from "../../src/http/ReferencePage.ts"

const page = Effect.gen(function*() {
  const handler = yield* ReferencePage.make
  const response = yield* handler
  const { body, headers } = response
  if (body._tag !== "Uint8Array") return yield* Effect.die(new Error(`The page is ${body._tag}`))
  return { html: new TextDecoder().decode(body.body), headers }
})

const directives = (policy: string | undefined) =>
  new Map(
    (policy ?? "").split("; ").map((directive) => {
      const [name = "", ...values] = directive.split(" ")
      return [name, values] as const
    })
  )

describe("the reference page", () => {
  it.effect("runs its own scripts alone: the policy holds the hash of each, and nothing that lets others in", () =>
    Effect.gen(function*() {
      const { headers, html } = yield* page
      const policy = directives(headers["content-security-policy"])
      const scripts = [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)]
      expect(scripts.length).toBeGreaterThan(0)
      for (const [, attributes, text = ""] of scripts) {
        expect(attributes).not.toMatch(/\bsrc=/)
        const hash = crypto.createHash("sha256").update(text).digest("base64")
        expect(policy.get("script-src")).toContain(`'sha256-${hash}'`)
      }
      expect(policy.get("script-src")).toHaveLength(scripts.length)
      expect(policy.get("default-src")).toEqual(["'none'"])
      expect(policy.get("connect-src")).toEqual(["'self'"])
      for (const sources of policy.values()) {
        for (const source of sources) {
          expect(source).toMatch(/^(?:'(?:none|self|unsafe-inline|sha256-[\w+/=]+)'|data:)$/)
        }
      }
      expect(policy.get("frame-ancestors")).toEqual(["'none'"])
    }))

  it.effect("fetches nothing from elsewhere, and carries the document", () =>
    Effect.gen(function*() {
      const { headers, html } = yield* page
      expect(headers["content-type"]).toMatch(/^text\/html/)
      const markup = html.replaceAll(/(<script[^>]*>)[\s\S]*?(<\/script>)/g, "$1$2")
      expect(markup).not.toMatch(/(?:src|href)=["']?(?:https?:)?\/\//i)
      expect(html).not.toMatch(/\bimport\(\s*["'`]https?:/)
      expect(html).not.toMatch(/@import\s+(?:url\()?["']?https?:/)
      const document = Documents.make()
      expect(html).toContain(document.info.title)
      for (const methods of Object.values(document.paths)) {
        for (const entry of Object.values(methods)) {
          if ("operationId" in entry) expect(html).toContain(entry.operationId)
        }
      }
    }))
})
