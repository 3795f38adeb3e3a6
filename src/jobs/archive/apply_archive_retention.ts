import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { cleanupDetails } from "../../domain/archive/ArchiveCleanup.ts"
import { objectOf } from "../../domain/archive/ArchiveHold.ts"
import {
  daysOf,
  firstKeptDay,
  type KeptDays,
  keptDetails,
  keptWords,
  retentionDeletes
} from "../../domain/archive/Retention.ts"
import { retentionDue } from "../../domain/mail/index.ts"
import { now } from "../../domain/Moments.ts"
import { type ArchivePhase, archivePhase } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import { ArchiveRetentions, type RetainedAccount } from "../../ports/archive/ArchiveRetentions.ts"
import { Db } from "../../ports/Db.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

/** Accounts of one cleanup: they are locked together while they are counted. */
const accountsPerCleanup = 50

/** Phases in which nothing is deleted, or everything is. */
const untouched: ReadonlyArray<ArchivePhase> = ["held", "deleting", "deleted"]

/** Ends a run; what it has found due is announced. */
const end = Effect.fnUntraced(function*(organizationId: OrganizationId, kept: KeptDays, day: string) {
  const waiting = yield* (yield* ArchiveRetentions).end(organizationId, day)
  if (waiting === null) return
  const { notBefore, ...counts } = waiting
  const from = notBefore.toISOString().slice(0, 10)
  yield* record(
    byService(organizationId),
    "archive_retention.applied",
    { id: organizationId },
    { ...keptDetails(kept), ...counts, not_before: notBefore.toISOString() },
    [retentionDue({ kept: keptWords(kept), from, ...counts })]
  )
})

/** Queues the cleanup of accounts that are kept for so many days. */
const queue = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  accounts: ReadonlyArray<RetainedAccount>,
  days: number,
  at: Date
) {
  const accountIds = accounts.map(({ id }) => id)
  const notBefore = retentionDeletes(at)
  const cleanups = yield* ArchiveCleanups
  const criteria = { accountIds, chatIds: null, before: firstKeptDay(days, notBefore), mediaOnly: false }
  const { watermark, ...counts } = yield* cleanups.measure(organizationId, criteria)
  const cleanup = { ...criteria, ...counts }
  const id = yield* cleanups.add(organizationId, {
    ...cleanup,
    state: "queued",
    stopSaving: false,
    deletedMessages: 0,
    deletedBytes: 0,
    notBefore,
    expiresAt: null,
    createdBy: null,
    createdAt: at,
    confirmedBy: null,
    startedAt: null,
    finishedAt: null,
    error: null
  }, watermark)
  yield* record(byService(organizationId), "cleanup.scheduled", objectOf(id, accountIds), {
    ...cleanupDetails(cleanup),
    not_before: notBefore.toISOString(),
    retention_days: days
  })
})

/** Queues the cleanups of what will be due, of the next accounts; false at the end. */
const queueNext = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const retentions = yield* ArchiveRetentions
  const at = yield* now
  const day = at.toISOString().slice(0, 10)
  const run = yield* retentions.take(organizationId, day)
  if (run === null) return false
  const facts = yield* (yield* Organizations).lockFacts(organizationId)
  if (untouched.includes(archivePhase(facts, at))) return false
  const accounts = yield* retentions.accounts(
    organizationId,
    run,
    retentionDeletes(at),
    run.reached,
    accountsPerCleanup
  )
  const last = accounts.at(-1)
  if (last === undefined) {
    yield* end(organizationId, run, day)
    return false
  }
  for (const [days, due] of Map.groupBy(accounts, ({ tier }) => daysOf(run, tier))) {
    if (days !== null) yield* queue(organizationId, due, days, at)
  }
  yield* retentions.reach(organizationId, last.id)
  return true
})

/**
 * A run counts what will be older than the retention 7 days later, when its cleanups begin. The next one follows once they
 * have ended. A process that ends leaves the other accounts to the next process.
 */
export const applyArchiveRetention = Job.make("apply_archive_retention", {
  period: "1 hour",
  does: "queues the cleanups of what is older than the organization's retention, 7 days before they begin",
  run: Effect.gen(function*() {
    const db = yield* Db
    const day = (yield* now).toISOString().slice(0, 10)
    yield* eachAlone(
      yield* (yield* ArchiveRetentions).due(day),
      Effect.fnUntraced(function*(organizationId) {
        while (yield* db.transaction(organizationId, queueNext(organizationId)));
      })
    )
  })
})
