/** Plays histories of capture, in memory or in the archive of a database of its own, and tells how far it is. */
import { Cause, Effect, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Archives from "../../test/support/archive/archives.ts"
import type { CaptureGround } from "../../test/support/capture/captureGround.ts"
import { playCapture } from "../../test/support/capture/captureHistory.ts"
import { memoryGround } from "../../test/support/capture/memoryCapture.ts"
import { sqlGround } from "../../test/support/capture/sqlCapture.ts"
import { migrate, postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import * as World from "../../test/support/world.ts"
import type { Part, Progress } from "./worker.ts"

/** A number of its own for each text, for what is drawn from one. */
const numberOf = (text: string) => Array.from(text).reduce((sum, one) => (31 * sum + one.charCodeAt(0)) % 1_000_003, 7)

interface Task extends Part {
  readonly property: "archive" | "capture"
}

const playAll = Effect.fnUntraced(function*<R>(
  { first, last, seed, step }: Part,
  ground: Effect.Effect<CaptureGround, never, R>
) {
  const findings: Array<Progress["findings"][number]> = []
  let sequences = 0
  let requests = 0
  let comparisons = 0
  for (let sequence = first; sequence <= last; sequence += step) {
    const found = yield* Effect.flatMap(
      ground,
      (ground) => playCapture(1_000_003 * numberOf(seed) + sequence, ground)
    ).pipe(
      Effect.catchCause((cause) =>
        Effect.succeed({ breaches: [{ sequence, law: Cause.pretty(cause) }], commits: 0, deaths: 0 })
      )
    )
    findings.push(...found.breaches.map(({ law }) => ({ sequence, text: law })))
    sequences += 1
    requests += found.commits
    comparisons += found.deaths
    process.send?.({ sequences, requests, comparisons, findings })
  }
})

/** Accounts of one organization, on the database of this process. */
const playStored = Effect.fnUntraced(function*(task: Task) {
  const { account: { organizationId }, key } = yield* Archives.makeArchive()
  yield* Archives.setKey(organizationId, key)
  const ground = Effect.flatMap(Scope.make(), (scope) => Scope.provide(sqlGround(organizationId, key), scope))
  yield* playAll(task, Effect.orDie(ground))
}, Effect.scoped)

const play = (task: Task) => {
  if (task.property === "capture") return playAll(task, Effect.sync(memoryGround))
  const database = postgresLayer(task.url)
  const world = World.world(database).pipe(Layer.provideMerge(database), Layer.merge(TestClock.layer()))
  return Effect.andThen(migrate(task.url), Effect.provide(playStored(task), world))
}

process.once("message", (task: Task) => {
  Effect.runPromise(play(task)).then(() => process.disconnect(), (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
