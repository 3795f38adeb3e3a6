/** The watch over accounts in tests: time moves from one due moment to the next. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { LiveSessions } from "../../../src/messenger/OpenSessions.ts"
import { Engine } from "../../../src/protection/PollLoop.ts"

/** Up to so long every poll is run; of more, one in two hours, and everything else at the moment that it is due. */
const polled = Duration.toMillis(Duration.minutes(10))
const leap = Duration.toMillis(Duration.hours(2))

/** When something other than a poll is done next: a deadline, queued sign-outs, a retry. */
const nextDeadline = Effect.fnUntraced(function*(now: Date) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Tenant.directory(sql)(sql<{ next: Date | null }>`
    select min(greatest(due_at, next_at)) as next from monitor
    where due_at is not null and greatest(due_at, next_at) > ${now}`)
  return row?.next ?? null
})

/** What earlier tests have left behind is nobody's business any more. */
export const forgetOthers = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Tenant.directory(sql)(sql`update monitor set next_at = null`)
)

/**
 * Moves time on, and runs everything at the moment that it is due; `seen` looks on after each of these moments. `again`
 * says what becomes of a run that dies.
 */
export const advance = Effect.fnUntraced(function*<R = never>(
  duration: Duration.Input,
  seen: Effect.Effect<void, never, R> = Effect.void,
  again: (tick: Engine["Service"]["tick"]) => Engine["Service"]["tick"] = (tick) => tick
) {
  const engine = yield* Engine
  const length = Duration.toMillis(Duration.fromInputUnsafe(duration))
  const end = (yield* Clock.currentTimeMillis) + length
  const sessions = yield* LiveSessions
  const tick = Effect.tap(again(engine.tick), seen)
  let signedOut = (yield* tick).signedOut
  while (true) {
    const now = yield* Clock.currentTimeMillis
    const due = yield* length > polled ? nextDeadline(new Date(now)) : engine.nextDue
    // What is still due is held by somebody who died.
    const moment = due === null ? end : due.getTime() > now ? due.getTime() : now + 1000
    const next = Math.min(end, moment, ...(length > polled ? [now + leap] : []))
    yield* sessions.heard
    yield* TestClock.setTime(Math.max(next, now))
    signedOut += (yield* tick).signedOut
    if (next >= end) return signedOut
  }
})

/**
 * Jumps so far at once, and runs what is due then; whoever died holding an account has let go of it by then. A push
 * that is being written down is waited for: its statement has a deadline, which the jump would reach.
 */
export const jump = Effect.fnUntraced(function*(duration: Duration.Input) {
  const engine = yield* Engine
  yield* (yield* LiveSessions).heard
  yield* TestClock.adjust(duration)
  return (yield* engine.tick).signedOut
})
