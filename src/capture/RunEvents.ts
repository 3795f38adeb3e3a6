/** The events of runs: each night's would bury the others. */
import { Effect } from "effect"
import { byService, entryOf } from "../changes/Record.ts"
import type { ActionName } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { BackedUp } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { Journal } from "../ports/journal/Journal.ts"
import type { RunOutcome } from "./NextRuns.ts"

interface RunEvent {
  readonly name: ActionName
  readonly details: JournalDetails
}

/**
 * The event of a run that an admin asked for, of an account's first whole one, of the first of failures in a row, and of
 * the run that ends them; null for every other one.
 */
export const runEvent = (
  { askedAt, failures }: Pick<ClaimedRun, "askedAt" | "failures">,
  outcome: RunOutcome,
  { isFirst, messages }: BackedUp
): RunEvent | null => {
  switch (outcome._tag) {
    case "Done":
      return askedAt !== null || isFirst || failures > 0
        ? { name: "backup.finished", details: { first: isFirst, messages } }
        : null
    case "Failed":
      return askedAt !== null || failures === 0 ? { name: "backup.failed", details: { error: outcome.error } } : null
    case "Stopped":
      return askedAt !== null && outcome.reason !== "claim_lost" && outcome.reason !== "not_owned"
        ? { name: "backup.failed", details: { error: outcome.reason } }
        : null
    case "Waiting":
      return null
  }
}

/** Journals what the service has done to the account's archive, last in the transaction. */
export const recordRun = Effect.fnUntraced(
  function*({ accountId, organizationId }: ArchivedAccount, { details, name }: RunEvent) {
    const entry = entryOf(byService(organizationId), name, { id: accountId, accountId }, "done", details)
    yield* (yield* Journal).append(organizationId, entry)
  }
)
