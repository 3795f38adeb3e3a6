/** The consequences of licences that have ended: trials lapse, organizations are suspended, and accounts are left. */
import { Effect } from "effect"
import { licenceEndKept, retiredSessionKept, unrevealedKept } from "../../domain/Limits.ts"
import { after, before, now } from "../../domain/Moments.ts"
import { endedByTime } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import { Directory } from "../../ports/organization/Directory.ts"
import { LicenceEnds } from "../../ports/organization/LicenceEnds.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { ServiceSessions } from "../../ports/protection/ServiceSessions.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { changeDue, eachAlone, recordOrganization } from "../Batch.ts"
import { isLive } from "./LicenceStops.ts"

const accountsPerRun = 500

/** Changes the organization as time has, if it still has once the organization is locked. */
const end = Effect.fnUntraced(function*(organizationId: OrganizationId, at: Date) {
  const changes = endedByTime(yield* (yield* Organizations).lockFacts(organizationId), at)
  if (changes === null) return 0
  yield* (yield* Directory).update(organizationId, changes)
  yield* changes.billing_state === undefined
    ? recordOrganization(organizationId, "organization.suspended", { reason: "licence" })
    : recordOrganization(organizationId, "organization.set", { billing_state: changes.billing_state })
  return 1
})

/** Lets trials lapse that are over, and suspends organizations 30 days after their licence; returns their number. */
export const endLicences = Effect.gen(function*() {
  const db = yield* Db
  const at = yield* now
  const ended = yield* eachAlone(
    yield* (yield* LicenceEnds).due(at, before(at, licenceEndKept)),
    (id) => db.transaction(id, end(id, at))
  )
  return ended.reduce<number>((sum, some) => sum + some, 0)
})

/**
 * Leaves accounts as offboarding does where the messenger is away: what was set is released by the task that logs out.
 */
const leave = Effect.fnUntraced(function*(organizationId: OrganizationId, due: ReadonlyArray<string>, at: Date) {
  const ends = yield* LicenceEnds
  const own = yield* ServiceSessions
  const secrets = yield* Secrets
  const licence = yield* ends.hold(organizationId)
  if (licence === null || isLive(licence, at)) return 0
  const accounts = yield* ends.holdStopped(organizationId, due)
  for (const accountId of accounts) {
    const of = { organizationId, accountId }
    yield* secrets.leave(of, { passwords: after(at, unrevealedKept), passkeys: after(at, retiredSessionKept) })
    yield* own.leave(of, { due: at, now: at })
  }
  yield* ends.leave(organizationId, accounts, at)
  return accounts.length
})

/**
 * Leaves the accounts that have been without a licence for 30 days, and still have something of the service's; returns
 * their number.
 */
export const leaveAccounts = Effect.gen(function*() {
  const ends = yield* LicenceEnds
  const at = yield* now
  const due = yield* ends.leaving(before(at, licenceEndKept), accountsPerRun)
  return yield* changeDue(due, (organizationId, ids) => leave(organizationId, ids, at))
})
