/** The one rule by which pages, API and MCP offer and accept a backup of an account. */
import type { StatusFacts } from "../accounts/ProtectionStatus.ts"
import { ArchiveReadonly, NoArchiveKey, NoArchivePlan, NoSession, NotActive, StorageFull } from "../Failure.ts"
import { type OrganizationFacts, phaseIsWritable } from "../organization/Organization.ts"
import { type ArchiveFacts, saving } from "./ArchiveSummary.ts"

/** The failure of asking for a backup at `now`; null where one may be asked for. */
export const backupRefusal = (facts: ArchiveFacts & StatusFacts, organization: OrganizationFacts, now: Date) => {
  if (facts.offboarded_at !== null || facts.paused_at !== null) return new NotActive({})
  const { reason } = saving(facts, organization, now)
  if (reason === "no_connection") return new NoSession({})
  if (reason === "no_archive_plan") return new NoArchivePlan({})
  if (reason === "no_key") return new NoArchiveKey({})
  if (reason === "storage_full") return new StorageFull({})
  if (!phaseIsWritable(organization, now)) return new ArchiveReadonly({})
  return reason === "licence_stopped" ? new NoArchivePlan({}) : null
}
