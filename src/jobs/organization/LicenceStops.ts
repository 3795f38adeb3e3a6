/** Protection stops when an organization's licence ends or it is suspended, and comes back with it. */
import { Effect } from "effect"
import { accountName } from "../../domain/accounts/Account.ts"
import type { StopReason } from "../../domain/accounts/ProtectionStatus.ts"
import { lossesReportedAlone } from "../../domain/Limits.ts"
import { protectionStopped, protectionStoppedWidely } from "../../domain/mail/index.ts"
import { now } from "../../domain/Moments.ts"
import { isProtectionActive } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import { type Licence, LicenceEnds } from "../../ports/organization/LicenceEnds.ts"
import { LicenceStops, type LicensedAccount } from "../../ports/organization/LicenceStops.ts"
import { eachAlone, recordAccount, recordOrganization } from "../Batch.ts"

const accountsPerTransaction = 500

export const isLive = (licence: Licence, at: Date): boolean =>
  licence.closed_at === null && isProtectionActive(licence, at)

const reasonOf = ({ closed_at, status }: Licence): StopReason =>
  closed_at === null && status === "active" ? "licence" : "organization_suspended"

/**
 * How accounts are reported: each by itself, all in one event that is still to be written, or all in one that has been.
 */
type Reporting = "each" | "all" | "reported"

/** One batch of accounts that the licence has stopped or restored, and how many there are in all. */
interface Batch {
  readonly organizationId: OrganizationId
  readonly accounts: ReadonlyArray<LicensedAccount>
  readonly all: number
  readonly reporting: Reporting
}

/** Reports each account, or many at once in one event and one mail. */
const reportStopped = Effect.fnUntraced(
  function*({ accounts, all, organizationId, reporting }: Batch, licence: Licence) {
    if (reporting === "reported") return
    const reason = reasonOf(licence)
    const isMailed = ({ licence_stopped_at }: LicensedAccount) =>
      licence.closed_at === null && licence_stopped_at === null
    if (reporting === "all") {
      const mails = accounts.some(isMailed) ? [protectionStoppedWidely({ accounts: all, reason })] : []
      return yield* recordOrganization(organizationId, "protection.stopped", { reason, accounts: all }, mails)
    }
    for (const account of accounts) {
      const about = { id: account.id, name: accountName(account) }
      const mails = isMailed(account) ? [protectionStopped({ account: about, reason })] : []
      yield* recordAccount(organizationId, "protection.stopped", account.id, { reason }, mails)
    }
  }
)

const reportRestored = Effect.fnUntraced(function*({ accounts, all, organizationId, reporting }: Batch) {
  if (reporting === "reported") return
  if (reporting === "all") return yield* recordOrganization(organizationId, "protection.restored", { accounts: all })
  for (const { id } of accounts) yield* recordAccount(organizationId, "protection.restored", id)
})

/** Changes the next accounts of an organization, by the licence as it is once the organization is locked. */
const change = Effect.fnUntraced(
  function*(organizationId: OrganizationId, at: Date, before: Reporting | undefined) {
    const stops = yield* LicenceStops
    const licence = yield* (yield* LicenceEnds).hold(organizationId)
    if (licence === null) return { changed: 0, reporting: before }
    const live = isLive(licence, at)
    // Accounts that something else had stopped were reported then, and stay stopped.
    const all = yield* stops.count(organizationId, live)
    const reporting = before ?? (all > lossesReportedAlone ? "all" : "each")
    const accounts = yield* stops.holdNext(organizationId, live, accountsPerTransaction)
    if (accounts.length === 0) return { changed: 0, reporting }
    const ids = accounts.map(({ id }) => id)
    const batch = { organizationId, all, reporting }
    if (live) {
      const restored = yield* stops.restore(organizationId, ids, at)
      yield* reportRestored({ ...batch, accounts: accounts.filter(({ id }) => restored.has(id)) })
    } else {
      yield* stops.stop(organizationId, ids, reasonOf(licence), at)
      yield* reportStopped({ ...batch, accounts: accounts.filter(({ stopped_at }) => stopped_at === null) }, licence)
    }
    yield* stops.saveStatuses(organizationId, ids, at)
    // The next batch continues what the first has reported.
    return { changed: accounts.length, reporting: reporting === "all" ? "reported" as const : reporting }
  }
)

/** Changes the accounts of an organization in batches; returns their number. */
const changeAll = Effect.fnUntraced(function*(organizationId: OrganizationId, at: Date) {
  const db = yield* Db
  let changed = 0
  let reporting: Reporting | undefined
  while (true) {
    const batch = yield* db.transaction(organizationId, change(organizationId, at, reporting))
    changed += batch.changed
    reporting = batch.reporting
    if (batch.changed < accountsPerTransaction) return changed
  }
})

/** Stops or restores the accounts of every organization by its licence; returns the number of changes. */
export const applyLicences = Effect.gen(function*() {
  const at = yield* now
  const due = (yield* (yield* LicenceStops).organizations).filter(({ running, stopped, ...licence }) =>
    isLive(licence, at) ? stopped : running
  )
  const changed = yield* eachAlone(due, ({ id }) => changeAll(id, at))
  return changed.reduce((sum, some) => sum + some, 0)
})
