import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { cleanupDetails, cleanupState } from "../../domain/archive/ArchiveCleanup.ts"
import { objectOf } from "../../domain/archive/ArchiveHold.ts"
import { now } from "../../domain/Moments.ts"
import { archivePhase } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveCleanups, type RunningCleanup } from "../../ports/archive/ArchiveCleanups.ts"
import { ArchiveHolds } from "../../ports/archive/ArchiveHolds.ts"
import { ArchiveRetentions } from "../../ports/archive/ArchiveRetentions.ts"
import { Db } from "../../ports/Db.ts"
import type { Due } from "../../ports/Due.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

const cleanupsPerRun = 20
const rowsPerTransaction = 500
const transactionsPerCleanup = 100

const end = Effect.fnUntraced(function*(cleanup: RunningCleanup, error: string | null, at: Date) {
  const { id, organizationId } = cleanup
  const deleted = yield* (yield* ArchiveCleanups).end(
    organizationId,
    cleanup,
    error === null ? "done" : "failed",
    error,
    at
  )
  yield* record(
    byService(organizationId),
    error === null ? "cleanup.finished" : "cleanup.failed",
    objectOf(id, cleanup.accountIds),
    error === null ? { ...deleted } : { ...deleted, error }
  )
})

/**
 * The cleanup without the accounts that a hold binds or another licence keeps by now, where it has waited; or the code of
 * what forbids it.
 */
const allowed = Effect.fnUntraced(function*(cleanup: RunningCleanup, at: Date) {
  const { before, notBefore, organizationId, state } = cleanup
  const phase = archivePhase(yield* (yield* Organizations).lockFacts(organizationId), at)
  if (phase === "deleting" || phase === "deleted") return "archive_closed"
  const holds = yield* ArchiveHolds
  const hasWaited = state === "queued" && notBefore !== null
  const free = hasWaited ? yield* holds.free(organizationId, cleanup) : cleanup.accountIds
  const accountIds = hasWaited && before !== null
    ? yield* (yield* ArchiveRetentions).notKept(organizationId, free, before, at)
    : free
  const isHeld = free.length === 0 || (yield* holds.binds(organizationId, { accountIds, before }))
  return isHeld ? "archive_held" : { ...cleanup, accountIds }
})

/** Begins a cleanup; one that has waited counts anew what is there now. */
const begin = Effect.fnUntraced(function*(cleanup: RunningCleanup, at: Date) {
  const cleanups = yield* ArchiveCleanups
  const { accountIds, id, notBefore, organizationId } = cleanup
  if (notBefore === null) return yield* cleanups.begin(cleanup, at)
  const counted = { ...cleanup, ...(yield* cleanups.measure(organizationId, cleanup)) }
  yield* cleanups.begin(counted, at)
  yield* record(byService(organizationId), "cleanup.confirmed", objectOf(id, accountIds), cleanupDetails(counted))
})

/**
 * Begins the cleanup, which is journaled, or deletes some rows or, where none is left, ends it; true while there is more to
 * do here. What locks the journal's head deletes nothing: others lock the rows first.
 */
const step = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string) {
  const cleanups = yield* ArchiveCleanups
  const at = yield* now
  const cleanup = yield* cleanups.take(organizationId, id, at)
  if (cleanup === null) return false
  if (cleanup.state === "previewed") {
    if (cleanupState(cleanup, at) === "expired") yield* cleanups.end(organizationId, cleanup, "expired", null, at)
    return false
  }
  const running = yield* allowed(cleanup, at)
  if (typeof running === "string") {
    yield* end(cleanup, running, at)
    return false
  }
  if (cleanup.state === "queued") {
    yield* begin(running, at)
    return true
  }
  if (yield* cleanups.deleteSome(running, rowsPerTransaction, at)) return true
  yield* end(cleanup, null, at)
  return false
})

/** Each step commits by itself: a process that ends leaves the rest to the next run, of any process. */
const goOn = Effect.fnUntraced(function*({ id, organizationId }: Due) {
  const db = yield* Db
  for (let done = 0; done < transactionsPerCleanup; done++) {
    if (!(yield* db.transaction(organizationId, step(organizationId, id)))) return
  }
})

const run = Effect.gen(function*() {
  yield* eachAlone(yield* (yield* ArchiveCleanups).due(yield* now, cleanupsPerRun), goOn)
})

/** It tests holds and the archive's phase again before each batch. */
export const runArchiveCleanups = Job.make("run_archive_cleanups", {
  period: "5 seconds",
  does:
    "deletes what cleanups of the archive name that are confirmed or due, and ends previews that are older than 15 minutes",
  run
})
