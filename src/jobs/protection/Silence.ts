/** Sets the status of accounts to unknown that were not polled for too long, whatever the reason. */
import { type Duration, Effect } from "effect"
import { accountName } from "../../domain/accounts/Account.ts"
import { isWatched } from "../../domain/accounts/ProtectionStatus.ts"
import { lossesReportedAlone } from "../../domain/Limits.ts"
import { monitoringLost } from "../../domain/mail/index.ts"
import { now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { isSilent, silentSince } from "../../domain/protection/Polling.ts"
import { Db } from "../../ports/Db.ts"
import { OutageRecords } from "../../ports/protection/OutageRecords.ts"
import { SilentAccounts } from "../../ports/protection/SilentAccounts.ts"
import { changeDue, eachAlone, recordAccount, recordOrganization } from "../Batch.ts"
import { reportLost } from "./MessengerOutages.ts"

const accountsPerRun = 2000

/** Makes those of the accounts unknown that are silent still, now that they are locked. */
const become = Effect.fnUntraced(
  function*(organizationId: OrganizationId, ids: ReadonlyArray<string>, at: Date, silence: Duration.Duration) {
    const silent = yield* SilentAccounts
    const { accounts, monitors } = yield* silent.hold(organizationId, ids)
    const lost = new Set(monitors.flatMap((monitor) => isSilent(monitor, at, silence) ? [monitor.account_id] : []))
    const found = accounts.filter((account) =>
      account.monitoring_state === "active" && isWatched(account) && lost.has(account.id)
    )
    if (found.length === 0) return 0
    const away = yield* (yield* OutageRecords).isNotified(organizationId)
    const together = !away && found.length > lossesReportedAlone
    yield* silent.makeUnknown(organizationId, { ids: found.map(({ id }) => id), away, together, now: at })
    if (together) yield* reportLost(organizationId, "silent", found.length)
    if (away || together) return found.length
    for (const account of found) {
      const mail = monitoringLost({ account: { id: account.id, name: accountName(account) }, reason: "unreachable" })
      yield* recordAccount(organizationId, "monitoring.lost", account.id, { error: "silent" }, [mail])
    }
    return found.length
  }
)

/** Notifies an organization once all of those accounts are watched again, or not watched any more. */
const restore = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const accounts = yield* (yield* SilentAccounts).restored(organizationId)
  if (accounts !== null) yield* recordOrganization(organizationId, "monitoring.restored", { accounts })
})

/** Makes the accounts unknown that are due and have had no good poll for so long, and returns how many. */
export const noticeAfter = Effect.fnUntraced(function*(silence: Duration.Duration) {
  const db = yield* Db
  const silent = yield* SilentAccounts
  const at = yield* now
  const unknown = yield* changeDue(
    yield* silent.due(at, silentSince(at, silence), accountsPerRun),
    (organizationId, ids) => become(organizationId, ids, at, silence)
  )
  yield* eachAlone(yield* silent.reported, (id) => db.transaction(id, restore(id)))
  return unknown
})
