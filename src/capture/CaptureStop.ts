/** The reasons for which nothing is captured of an account. */
import { Data } from "effect"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import { saving, type SavingReason } from "../domain/archive/ArchiveSummary.ts"
import { type OrganizationFacts, phaseIsWritable } from "../domain/organization/Organization.ts"

/** Nothing more is saved of the account: what the facts say, or another process has it. */
export class CaptureStopped extends Data.TaggedError("CaptureStopped")<{
  readonly reason: typeof SavingReason.Type | "claim_lost" | "not_owned"
}> {}

/** The reason to save nothing; null where saving is allowed. An earlier failure is none. */
export const captureStop = (
  facts: AccountFacts,
  organization: OrganizationFacts,
  now: Date
): typeof SavingReason.Type | null => {
  const { reason, state } = saving(facts, organization, now)
  if (state === "stopped" && reason !== null && reason !== "error" && reason !== "cleanup_stopped") return reason
  if (facts.archive_cleanup_running) return "cleanup_stopped"
  return phaseIsWritable(organization, now) ? null : "no_archive_plan"
}
