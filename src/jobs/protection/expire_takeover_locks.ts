import { Effect } from "effect"
import { takeoverWindow } from "../../domain/Limits.ts"
import { before, now } from "../../domain/Moments.ts"
import { TakeoverLocks } from "../../ports/protection/TakeoverLocks.ts"
import { changeDue, recordAccount } from "../Batch.ts"
import * as Job from "../Job.ts"

const locksPerRun = 500

/** The number of locks that have ended, whether or not their accounts are polled. */
const run = Effect.gen(function*() {
  const locks = yield* TakeoverLocks
  const until = before(yield* now, takeoverWindow)
  return yield* changeDue(
    yield* locks.due(until, locksPerRun),
    Effect.fnUntraced(function*(organizationId, ids) {
      const held = yield* locks.hold(organizationId, ids, until)
      if (held.length === 0) return 0
      yield* locks.end(organizationId, held.map(({ id }) => id))
      for (const { id, locked_at } of held) {
        yield* recordAccount(organizationId, "takeover.lock_expired", id, { locked_at: locked_at.toISOString() })
      }
      return held.length
    })
  )
})

/** Rows that another process has locked are skipped. */
export const expireTakeoverLocks = Job.make("expire_takeover_locks", {
  period: "1 minute",
  does: "ends the locks of takeovers after 48 hours",
  run
})
