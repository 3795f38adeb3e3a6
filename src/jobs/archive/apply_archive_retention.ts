import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { cleanupDetails } from "../../domain/archive/ArchiveCleanup.ts"
import { objectOf } from "../../domain/archive/ArchiveHold.ts"
import { firstKeptDay } from "../../domain/archive/Retention.ts"
import { now } from "../../domain/Moments.ts"
import { type ArchivePhase, archivePhase } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveCleanups } from "../../ports/archive/ArchiveCleanups.ts"
import { ArchiveRetentions } from "../../ports/archive/ArchiveRetentions.ts"
import { Db } from "../../ports/Db.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as Job from "../Job.ts"

/** Accounts of one cleanup: they are locked together while they are counted. */
const accountsPerCleanup = 50

/** Phases in which nothing is deleted, or everything is. */
const untouched: ReadonlyArray<ArchivePhase> = ["held", "deleting", "deleted"]

/** Queues the cleanup of what is older, of the next accounts; the last of them, or null at the end. */
const queueNext = Effect.fnUntraced(function*(organizationId: OrganizationId, after: string) {
  const retentions = yield* ArchiveRetentions
  const at = yield* now
  const retention = yield* retentions.lock(organizationId)
  if (retention === null || retention.beginsAt > at) return null
  const facts = yield* (yield* Organizations).lockFacts(organizationId)
  if (untouched.includes(archivePhase(facts, at))) return null
  const before = firstKeptDay(retention.days, at)
  const accountIds: ReadonlyArray<AccountId> = yield* retentions.accounts(
    organizationId,
    before,
    after,
    accountsPerCleanup
  )
  const last = accountIds.at(-1)
  if (last === undefined) {
    yield* retentions.markApplied(organizationId, at.toISOString().slice(0, 10))
    return null
  }
  const cleanups = yield* ArchiveCleanups
  const criteria = { accountIds, chatIds: null, before, mediaOnly: false }
  const { watermark, ...counts } = yield* cleanups.measure(organizationId, criteria)
  const cleanup = { ...criteria, ...counts }
  const id = yield* cleanups.add(organizationId, {
    ...cleanup,
    state: "queued",
    stopSaving: false,
    deletedMessages: 0,
    deletedBytes: 0,
    expiresAt: null,
    createdBy: null,
    createdAt: at,
    confirmedBy: null,
    startedAt: null,
    finishedAt: null,
    error: null
  }, watermark)
  yield* record(byService(organizationId), "cleanup.confirmed", objectOf(id, accountIds), {
    ...cleanupDetails(cleanup),
    retention_days: retention.days
  })
  return last
})

/** A process that ends leaves the other accounts to the next run: those with a queued cleanup are not queued again. */
export const applyArchiveRetention = Job.make("apply_archive_retention", {
  period: "1 hour",
  does: "queues the cleanups of what is older than the organization's retention, once a day",
  run: Effect.gen(function*() {
    const db = yield* Db
    const at = yield* now
    for (const organizationId of yield* (yield* ArchiveRetentions).due(at, at.toISOString().slice(0, 10))) {
      let after: AccountId | "" | null = ""
      while (after !== null) after = yield* db.transaction(organizationId, queueNext(organizationId, after))
    }
  })
})
