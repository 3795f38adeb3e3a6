/** The program of a thread that searches: it opens what it is handed, looks through it, and zeroes the keys. */
import { Cause, Effect, Redacted } from "effect"
import { parentPort } from "node:worker_threads"
import { makeInlineMatcher } from "../../archive/InlineMatcher.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import * as NodeCrypto from "./NodeCrypto.ts"
import type { Numbered, ThreadAnswer, ThreadAsk } from "./SearchThreadCalls.ts"

const matcher = Effect.runSync(Effect.provide(makeInlineMatcher(), NodeCrypto.layer))

const match = (ask: ThreadAsk): Effect.Effect<ThreadAnswer, ServiceUnavailable> => {
  if (ask.type === "block") {
    const { block, key: { key, ref }, words } = ask
    return Effect.map(
      matcher.block(words, { ...block, key: { ref, vocabularies: Redacted.make(key) } }),
      (matches) => ({ type: "block", matches })
    )
  }
  const pages = ask.pages.map(({ keys, page, sealed }) => ({
    page,
    sealed,
    keys: keys.map(({ key, ref }) => ({ ref, frames: Redacted.make(key) }))
  }))
  return Effect.map(matcher.pages(ask.criteria, pages), (matches) => ({ type: "pages", matches }))
}

const eraseKeys = (ask: ThreadAsk) =>
  Effect.sync(() => {
    const keys = ask.type === "block" ? [ask.key] : ask.pages.flatMap(({ keys }) => keys)
    for (const { key } of keys) key.fill(0)
  })

const answerTo = ({ id, ...ask }: Numbered<ThreadAsk>): Effect.Effect<Numbered<ThreadAnswer>> =>
  match(ask).pipe(
    Effect.ensuring(eraseKeys(ask)),
    Effect.catchCause((cause) => Effect.succeed({ type: "failed" as const, reason: Cause.pretty(cause) })),
    Effect.map((answer) => ({ ...answer, id }))
  )

parentPort?.on("message", (ask: Numbered<ThreadAsk>) => {
  void Effect.runPromise(answerTo(ask)).then((answer) => parentPort?.postMessage(answer, []))
})
