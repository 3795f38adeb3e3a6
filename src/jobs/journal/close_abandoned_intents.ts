/** Closes what a crash left open: an intent without an outcome becomes failed, its cause unknown. */
import { Effect } from "effect"
import { byService, entryOf } from "../../changes/Record.ts"
import { now } from "../../domain/Moments.ts"
import { Db } from "../../ports/Db.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import { type PendingChange, PendingChanges } from "../../ports/journal/PendingChanges.ts"
import * as Job from "../Job.ts"

/** Closes the intent within the transaction; false where it has an outcome already. */
const close = Effect.fnUntraced(function*(pending: PendingChange) {
  const intent = yield* (yield* PendingChanges).find(pending)
  if (intent === null) return false
  const { organization_id, sequence } = pending
  return yield* (yield* Journal).close(
    organization_id,
    sequence,
    entryOf(
      byService(organization_id),
      { action: intent.action, target: intent.target_type },
      { id: intent.target_id, accountId: intent.account_id },
      "failed",
      { ...intent.details, error: "unknown", certain: false },
      sequence
    )
  )
})

/** Closes every intent whose time is over, or all; returns how many. */
const closeAbandoned = Effect.fnUntraced(function*(all: boolean) {
  const db = yield* Db
  const { due } = yield* PendingChanges
  let closed = 0
  for (const pending of yield* due(all ? null : yield* now)) {
    if (yield* db.transaction(pending.organization_id, close(pending))) closed += 1
  }
  if (closed > 0) yield* Effect.logWarning(`Closed ${closed} changes that were left pending`)
  return closed
})

/** The process that opened them is gone where only this one uses the database. */
export const closeAllIntents = closeAbandoned(true)

/** Of two processes one closes each. */
export const closeAbandonedIntents = Job.make("close_abandoned_intents", {
  period: "15 seconds",
  does:
    "closes changes on the messenger that were begun a minute ago and have no outcome; at the start of a process that has the database alone, all of them",
  run: closeAbandoned(false),
  atStart: closeAllIntents
})
