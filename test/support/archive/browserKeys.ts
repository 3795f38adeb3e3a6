/** The archive password's forms as the script of their page handles them, by the cryptography of browsers. */
import { Effect, Layer } from "effect"
import * as WebCrypto from "../../../src/layers/archive/WebCrypto.ts"
import { makeAnswer } from "../../../src/viewer/key/KeyAnswering.ts"
import type { KeyFacts } from "../../../src/viewer/key/KeyCalls.ts"
import * as Derivation from "../../../src/viewer/worker/Derivation.ts"
import * as Pages from "../http/pages.ts"

const path = "/console/archive-key"

const factsIn = (page: Pages.Page): KeyFacts => {
  const text = /data-key="([^"]*)"/.exec(page.text)?.[1] ?? "null"
  return JSON.parse(text.replaceAll("&quot;", "\"").replaceAll("&#39;", "'").replaceAll("&amp;", "&")) as KeyFacts
}

/** The members of a form. */
interface Sent extends Readonly<Record<string, string>> {
  readonly csrf: string
  readonly key: string
}

/** The form of a way, and what its script makes of the secrets that are typed; nothing is sent. */
export const prepare = Effect.fnUntraced(
  function*(way: string, cookie: string, typed: { readonly password: string; readonly secret?: string }) {
    const at = `${path}/${way}`
    const page = yield* Pages.visit("GET", at, { cookie })
    const { hidden } = Pages.formOf(page, at)
    const facts = factsIn(page)
    const { recoveryCode, ...sent } = yield* Effect.provide(
      makeAnswer({ ...facts, secret: "", ...typed }),
      Layer.merge(WebCrypto.layer, Derivation.layerWith(facts.cost))
    )
    const form: Sent = { csrf: "", ...hidden, ...sent, password: Pages.password }
    return { form, recoveryCode }
  }
)

/** Sends a form that was handled in the browser. */
export const send = Effect.fnUntraced(
  function*(way: string, cookie: string, form: Readonly<Record<string, string>>) {
    const { headers, status, text } = yield* Pages.visit("POST", `${path}/${way}`, { cookie, form })
    const answer: unknown = headers.get("content-type")?.startsWith("application/json") === true
      ? JSON.parse(text)
      : null
    return [status, answer] as const
  }
)
