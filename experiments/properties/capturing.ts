/** Plays histories of capture, in memory, and tells how far it is. */
import { Cause, Effect } from "effect"
import { playCapture } from "../../test/support/capture/captureHistory.ts"
import type { Part, Progress } from "./worker.ts"

/** A number of its own for each text, for what is drawn from one. */
const numberOf = (text: string) => Array.from(text).reduce((sum, one) => (31 * sum + one.charCodeAt(0)) % 1_000_003, 7)

const playAll = Effect.fnUntraced(function*({ first, last, seed, step }: Part) {
  const findings: Array<Progress["findings"][number]> = []
  let sequences = 0
  for (let sequence = first; sequence <= last; sequence += step) {
    const found = yield* playCapture(1_000_003 * numberOf(seed) + sequence).pipe(
      Effect.map((breaches) => breaches.map(({ law }) => law)),
      Effect.catchCause((cause) => Effect.succeed([Cause.pretty(cause)]))
    )
    findings.push(...found.map((text) => ({ sequence, text })))
    sequences += 1
    if (sequences % 100 === 0) process.send?.({ sequences, requests: 0, comparisons: 0, findings })
  }
  process.send?.({ sequences, requests: 0, comparisons: 0, findings })
})

process.once("message", (task: Part) => {
  Effect.runPromise(playAll(task)).then(() => process.disconnect(), (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
