/** Plays rounds of accounts that are watched together, on a database of its own, and tells how far it is. */
import { Cause, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { migrate, postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import { planOf, play } from "../../test/support/properties/watch/play.ts"
import * as Stage from "../../test/support/properties/watch/stage.ts"
import type { Part, Progress } from "./worker.ts"

/** How many accounts a round has: each is a sequence of its own. */
const accounts = 25

/** A number of its own for each text, for what is drawn from one. */
const numberOf = (text: string) => Array.from(text).reduce((sum, one) => (31 * sum + one.charCodeAt(0)) % 1_000_003, 7)

const playAll = Effect.fnUntraced(function*({ first, last, seed, step }: Part) {
  const findings: Array<Progress["findings"][number]> = []
  let sequences = 0
  let requests = 0
  let comparisons = 0
  const end = first + Math.ceil((last - first + 1) / accounts)
  for (let round = first; round < end; round += step) {
    const found = yield* play(planOf(1_000_003 * round + numberOf(seed), accounts)).pipe(
      Effect.catchCause((cause) => Effect.succeed({ sent: 0, asked: 0, findings: [Cause.pretty(cause)] }))
    )
    findings.push(...found.findings.map((text) => ({ sequence: round, text })))
    sequences += accounts
    requests += found.asked
    comparisons += found.sent
    process.send?.({ sequences, requests, comparisons, findings })
  }
})

process.once("message", (task: Part) => {
  const database = postgresLayer(task.url)
  const stage = Stage.layer(database).pipe(Layer.merge(TestClock.layer()))
  const program = Effect.andThen(migrate(task.url), Effect.provide(playAll(task), stage))
  Effect.runPromise(program).then(() => process.disconnect(), (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
