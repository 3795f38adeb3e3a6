/**
 * Pushes signed checkpoints to their targets, in their order and each at least once: the table of checkpoints is the
 * queue, and a cursor for each target moves on only after it has taken them.
 */
import { Clock, Duration, Effect, Metric, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Gauge from "../../Gauge.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import type { PushTarget } from "../../push/Target.ts"
import { NotTaken } from "../../push/Target.ts"
import * as Checkpoints from "./Checkpoints.ts"

const checkpointsPerPush = 100

/** The time that a target may take. */
const timeLimit = Duration.seconds(10)

/** The time that a process keeps a target for itself, even if the process has ended. */
const lease = Duration.seconds(30)

/** The time that a target that failed is left alone at least and at most. */
const shortestPause = Duration.seconds(15)
const longestPause = Duration.minutes(10)

const pauseAfter = (failures: number) =>
  Duration.min(Duration.times(shortestPause, 2 ** Math.min(failures - 1, 10)), longestPause)

interface Cursor {
  readonly number: number
  readonly failures: number
}

const failed = Metric.counter("console_checkpoint_push_failures_total", {
  description: "Pushes of checkpoints that a target did not take",
  incremental: true
})

/** Takes the target for this process, unless another one has it or its pause is not over, with what is to be sent. */
const take = Effect.fnUntraced(function*(name: string, until: Date) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  return yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
    yield* sql`insert into journal_push (target, number, failures, free_at) values (${name}, 0, 0, ${now})
      on conflict do nothing`
    const [cursor] = yield* sql<Cursor>`
      select number, failures from journal_push where target = ${name} and free_at <= ${now} for update skip locked`
    if (cursor === undefined) return Option.none()
    const checkpoints = yield* Checkpoints.after(cursor.number, checkpointsPerPush)
    if (checkpoints.length > 0) {
      yield* sql`update journal_push set free_at = ${until} where target = ${name}`
    }
    return Option.some({ cursor, checkpoints })
  })))
})

/** Gives the target back, moved on or left where it was; nothing where this process no longer has it. */
const giveBack = Effect.fnUntraced(function*(name: string, until: Date, cursor: Cursor, freeAt: number) {
  const sql = yield* SqlClient.SqlClient
  yield* Tenant.directory(sql)(sql`
    update journal_push set number = ${cursor.number}, failures = ${cursor.failures}, free_at = ${new Date(freeAt)}
    where target = ${name} and free_at = ${until}`)
})

/** The outcome of a turn of one target. */
type Outcome =
  | { readonly is: "taken"; readonly more: boolean }
  | { readonly is: "nothing"; readonly failing: boolean }
  | { readonly is: "failed"; readonly reason: string }
  | { readonly is: "elsewhere" }

/** Sends what is next to the target, if anything is. */
export const pushSome = Effect.fnUntraced(function*(target: PushTarget) {
  const until = new Date((yield* Clock.currentTimeMillis) + Duration.toMillis(lease))
  const taken = yield* take(target.name, until)
  if (Option.isNone(taken)) return { is: "elsewhere" } satisfies Outcome
  const { checkpoints, cursor } = taken.value
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
  const now = yield* Clock.currentTimeMillis
  if (reason === null) {
    yield* giveBack(target.name, until, { number: last.number, failures: 0 }, now)
    return { is: "taken", more: checkpoints.length === checkpointsPerPush } satisfies Outcome
  }
  const failures = cursor.failures + 1
  yield* giveBack(target.name, until, { ...cursor, failures }, now + Duration.toMillis(pauseAfter(failures)))
  yield* Metric.update(Metric.withAttributes(failed, { target: target.name }), 1)
  return { is: "failed", reason } satisfies Outcome
})

/** The time that the oldest checkpoint was signed which the target has not taken; null where it has all. */
const waitingSince = Effect.fnUntraced(function*(name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Tenant.directory(sql)(sql<{ at: Date }>`
    select at from journal_checkpoint
    where number > coalesce((select number from journal_push where target = ${name}), 0) order by number limit 1`)
  return row?.at.getTime() ?? null
})

/** Pushes all checkpoints that are left to one target; logs the first failure, and when it works again. */
export const turns = Effect.fnUntraced(function*(target: PushTarget) {
  const clock = yield* Clock.Clock
  let oldest: number | null = null
  yield* Gauge.show(
    "console_checkpoint_push_lag_seconds",
    "Age of the oldest checkpoint that the target has not taken",
    () => oldest === null ? 0 : Math.max(0, clock.currentTimeMillisUnsafe() - oldest) / 1000,
    { target: target.name }
  )
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
  // @effect-diagnostics-next-line returnEffectInGen:off -- what pushes is what is made
  return Effect.gen(function*() {
    while (true) {
      const outcome = yield* pushSome(target)
      yield* report(outcome)
      if (outcome.is !== "taken" || !outcome.more) break
    }
    oldest = yield* waitingSince(target.name)
  })
})
