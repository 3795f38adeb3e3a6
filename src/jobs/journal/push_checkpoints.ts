/** Pushes signed checkpoints to their targets, in their order and each at least once. */
import { Duration, Effect, Metric } from "effect"
import { after, now } from "../../domain/Moments.ts"
import { CheckpointQueue, NotTaken, type PushTarget } from "../../ports/journal/CheckpointQueue.ts"
import * as Job from "../Job.ts"

const checkpointsPerPush = 100

/** The time that a target may take. */
const timeLimit = Duration.seconds(10)

/** The time that a process keeps a target for itself, even if the process has ended. */
const heldFor = Duration.seconds(30)

/** The time that a target that failed is left alone at least and at most. */
const shortestPause = Duration.seconds(15)
const longestPause = Duration.minutes(10)

const pauseAfter = (failures: number) =>
  Duration.min(Duration.times(shortestPause, 2 ** Math.min(failures - 1, 10)), longestPause)

const failed = Metric.counter("console_checkpoint_push_failures_total", {
  description: "Pushes of checkpoints that a target did not take",
  incremental: true
})

/** The outcome of a turn of one target. */
type Outcome =
  | { readonly is: "taken"; readonly more: boolean }
  | { readonly is: "nothing"; readonly failing: boolean }
  | { readonly is: "failed"; readonly reason: string }
  | { readonly is: "elsewhere" }

/** Sends what is next to the target, if anything is. */
export const pushSome = Effect.fnUntraced(function*(target: PushTarget) {
  const queue = yield* CheckpointQueue
  const begun = yield* now
  const until = after(begun, heldFor)
  const taken = yield* queue.take(target.name, begun, until, checkpointsPerPush)
  if (taken === null) return { is: "elsewhere" } satisfies Outcome
  const { checkpoints, cursor } = taken
  const last = checkpoints.at(-1)
  if (last === undefined) return { is: "nothing", failing: cursor.failures > 0 } satisfies Outcome
  const reason = yield* target.send(checkpoints).pipe(
    Effect.timeoutOrElse({
      duration: timeLimit,
      orElse: () => Effect.fail(new NotTaken({ reason: `no answer within ${Duration.format(timeLimit)}` }))
    }),
    Effect.as(null),
    Effect.catchTag("NotTaken", ({ reason }) => Effect.succeed(reason))
  )
  const ended = yield* now
  if (reason === null) {
    yield* queue.giveBack(target.name, until, { number: last.number, failures: 0 }, ended)
    return { is: "taken", more: checkpoints.length === checkpointsPerPush } satisfies Outcome
  }
  const failures = cursor.failures + 1
  yield* queue.giveBack(target.name, until, { ...cursor, failures }, after(ended, pauseAfter(failures)))
  yield* Metric.update(Metric.withAttributes(failed, { target: target.name }), 1)
  return { is: "failed", reason } satisfies Outcome
})

/** Pushes all checkpoints that are left to one target; logs the first failure, and when it works again. */
export const pushTo = (target: PushTarget) => {
  let failing = false
  const report = Effect.fnUntraced(function*(outcome: Outcome) {
    if (outcome.is === "failed" && !failing) {
      failing = true
      yield* Effect.logWarning(`${target.name} does not take checkpoints: ${outcome.reason}`)
    }
    if (failing && (outcome.is === "taken" || (outcome.is === "nothing" && !outcome.failing))) {
      failing = false
      yield* Effect.logInfo(`${target.name} takes checkpoints again`)
    }
  })
  return Effect.gen(function*() {
    while (true) {
      const outcome = yield* pushSome(target)
      yield* report(outcome)
      if (outcome.is !== "taken" || !outcome.more) break
    }
    yield* (yield* CheckpointQueue).measure(target.name)
  })
}

/** One job for each target; a process that is at it holds it, for half a minute at most. */
export const pushCheckpoints = Job.makeEach("push_checkpoints", {
  period: "15 seconds",
  does: "pushes signed checkpoints; there is one job for each target, whose name is at the end of the job's name",
  start: Effect.map(
    CheckpointQueue,
    ({ targets }) => targets.map((target) => ({ name: target.name, run: pushTo(target) }))
  )
})
