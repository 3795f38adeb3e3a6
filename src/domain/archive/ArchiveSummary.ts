/** The archive summary of one account (specification, sections 2.3, 12.1 and 12.2). */
import { Duration, Schema } from "effect"
import type { StatusFacts, StopReason } from "../accounts/ProtectionStatus.ts"
import { Count, described, OptionalTimestamp } from "../JsonShapes.ts"
import { archiveRetryGrace } from "../Limits.ts"
import {
  isProtectionActive,
  type OrganizationFacts,
  phaseIsWritable,
  planHasArchive,
  type Tier
} from "../organization/Organization.ts"

export const ArchiveStatus = Schema.Literals(["idle", "queued", "running", "error", "awaiting_key", "disabled"])
export type ArchiveStatus = typeof ArchiveStatus.Type
export const SavingState = Schema.Literals(["saving", "stopped", "check"])
export const SavingReason = Schema.Literals([
  "paused",
  "no_key",
  "storage_full",
  "no_archive_plan",
  "licence_stopped",
  "no_connection",
  "cleanup_stopped",
  "error",
  "connection_unknown",
  "retired"
])
export const RunPhase = Schema.Literals(["starting", "dialogs", "messages", "media", "finishing"])

export const ArchiveSummary = Schema.Struct({
  has_key: described(Schema.Boolean, "Whether the organization's archive password is set."),
  status: described(ArchiveStatus, "What the archive of the account is doing."),
  messages: described(Count, "Messages that are archived."),
  media: described(Count, "Files that are archived."),
  bytes: described(Count, "The size of what is stored, in bytes."),
  last_backup_at: described(OptionalTimestamp, "When the last full check finished."),
  next_backup_at: described(OptionalTimestamp, "When the next full check is due."),
  updated_at: described(OptionalTimestamp, "When the archive last grew."),
  live_archive: described(Schema.Boolean, "Whether new messages are archived as they arrive."),
  error: described(
    Schema.NullOr(Schema.String),
    "Why the last run failed; roles without access to the archive read `archive_error` alone."
  ),
  phase: described(Schema.NullOr(RunPhase), "What the run in progress is doing; null while none is."),
  running: described(
    Schema.NullOr(Schema.Struct({
      dialogs_done: described(Count, "Chats that the run has finished; files in the phase `media`."),
      dialogs_total: described(
        Schema.NullOr(Count),
        "Chats that the run goes through, files in the phase `media`; null until they are counted."
      ),
      current_chat: described(
        Schema.NullOr(Schema.String),
        "The title of the chat that the run reads; null while it reads none, and for roles without access to the archive."
      )
    })),
    "How far the run in progress is; null while none is."
  ),
  chats: described(
    Schema.Struct({
      discovered: described(Count, "Chats that were found."),
      selected: described(Count, "Chats that the rules select."),
      with_data: described(Count, "Chats of which something is archived."),
      complete: described(Count, "Chats that are archived from their beginning."),
      review: described(Count, "Chats that wait for a decision.")
    }),
    "The account's chats, counted."
  ),
  saving: described(
    Schema.Struct({
      state: described(
        SavingState,
        "Whether new messages are saved: `saving`, `stopped`, or `check` where that is not sure."
      ),
      reason: described(Schema.NullOr(SavingReason), "Why they are not; null while they are."),
      stopped_chats: described(Count, "Chats of which nothing new is saved."),
      last_sync_at: described(OptionalTimestamp, "When new messages were last saved.")
    }),
    "Whether new messages are being saved."
  )
}).annotate({ identifier: "archive_summary" })
export type ArchiveSummary = typeof ArchiveSummary.Type

/** The stored facts of an account's archive; counters are facts, states are not. */
export interface ArchiveFacts {
  readonly licence_tier: Tier | null
  readonly stop_reason: StopReason | null
  readonly session_ref: string | null
  readonly archive_selects: boolean
  readonly archive_live: boolean
  readonly archive_messages: number
  readonly archive_media: number
  readonly archive_bytes: number
  readonly archive_last_backup_at: Date | null
  readonly archive_next_backup_at: Date | null
  readonly archive_updated_at: Date | null
  readonly archive_last_sync_at: Date | null
  readonly archive_queued_at: Date | null
  readonly archive_started_at: Date | null
  readonly archive_phase: typeof RunPhase.Type | null
  readonly archive_dialogs_done: number
  readonly archive_dialogs_total: number | null
  readonly archive_phase_at: Date | null
  readonly archive_dialogs_before: number
  /** Messages and bytes that were archived when the phase began. */
  readonly archive_messages_before: number
  readonly archive_bytes_before: number
  /** The title of the chat that the run reads; null while it reads none. */
  readonly archive_current_chat: string | null
  readonly archive_error: string | null
  readonly archive_retry_at: Date | null
  readonly archive_chats_discovered: number
  readonly archive_chats_selected: number
  readonly archive_chats_with_data: number
  readonly archive_chats_complete: number
  readonly archive_chats_review: number
  readonly archive_chats_stopped: number
  readonly archive_cleanup_running: boolean
}

const hasArchiveTier = (facts: ArchiveFacts): boolean => facts.licence_tier !== "protect"

/** The state of the account's archive: the first rule that applies. */
export const archiveStatus = (
  facts: ArchiveFacts & StatusFacts,
  organization: OrganizationFacts,
  now: Date
): ArchiveStatus => {
  if (
    !hasArchiveTier(facts) || !phaseIsWritable(organization, now) || facts.offboarded_at !== null ||
    !facts.archive_selects
  ) {
    return "disabled"
  }
  if (!organization.archive_key_set) return "awaiting_key"
  if (facts.archive_started_at !== null) return "running"
  if (facts.archive_queued_at !== null) return "queued"
  const retryDue = facts.archive_retry_at !== null &&
    facts.archive_retry_at.getTime() <= now.getTime() + Duration.toMillis(archiveRetryGrace)
  return facts.archive_error !== null && !retryDue ? "error" : "idle"
}

type Saving = Pick<ArchiveSummary["saving"], "state" | "reason">

const stopped = (reason: Saving["reason"]): Saving => ({ state: "stopped", reason })

/** The state of saving new messages and, where they are not saved, the reason: the first that applies. */
export const saving = (facts: ArchiveFacts & StatusFacts, organization: OrganizationFacts, now: Date): Saving => {
  if (facts.offboarded_at !== null) return stopped("retired")
  if (!hasArchiveTier(facts) || !planHasArchive(organization)) return stopped("no_archive_plan")
  const licenceStopped = facts.stop_reason === "licence" || facts.stop_reason === "organization_suspended"
  if (facts.stopped_at !== null && licenceStopped || !isProtectionActive(organization, now)) {
    return stopped("licence_stopped")
  }
  if (!organization.archive_key_set) return stopped("no_key")
  if (facts.paused_at !== null) return stopped("paused")
  if (facts.session_ref === null || facts.stopped_at !== null) return stopped("no_connection")
  if (
    organization.storage_limit_bytes !== null && organization.storage_used_bytes >= organization.storage_limit_bytes
  ) {
    return stopped("storage_full")
  }
  const everyChatStopped = facts.archive_chats_selected > 0 &&
    facts.archive_chats_stopped >= facts.archive_chats_selected
  if (everyChatStopped || facts.archive_cleanup_running) return stopped("cleanup_stopped")
  if (facts.monitoring_state === "unknown") return { state: "check", reason: "connection_unknown" }
  if (facts.archive_error !== null) {
    return { state: facts.archive_retry_at === null ? "stopped" : "check", reason: "error" }
  }
  return { state: "saving", reason: null }
}

/** No run begins before the reason has changed. */
export const nothingRuns = ({ reason, state }: Saving): boolean => state === "stopped" && reason !== "error"

/** The summary at `now`; a reader without archive access does not learn the reason of a failure. */
export const archiveSummary = (
  facts: ArchiveFacts & StatusFacts,
  organization: OrganizationFacts,
  now: Date,
  readsArchive: boolean
): ArchiveSummary => {
  const status = archiveStatus(facts, organization, now)
  const running = status === "running"
  const saved = saving(facts, organization, now)
  return {
    has_key: organization.archive_key_set,
    status,
    messages: facts.archive_messages,
    media: facts.archive_media,
    bytes: facts.archive_bytes,
    last_backup_at: facts.archive_last_backup_at,
    next_backup_at: nothingRuns(saved) ? null : facts.archive_next_backup_at,
    updated_at: facts.archive_updated_at,
    live_archive: facts.archive_live,
    error: facts.archive_error === null || readsArchive ? facts.archive_error : "archive_error",
    phase: running ? facts.archive_phase ?? "starting" : null,
    running: running
      ? {
        dialogs_done: facts.archive_dialogs_done,
        dialogs_total: facts.archive_dialogs_total,
        current_chat: readsArchive ? facts.archive_current_chat : null
      }
      : null,
    chats: {
      discovered: facts.archive_chats_discovered,
      selected: facts.archive_chats_selected,
      with_data: facts.archive_chats_with_data,
      complete: facts.archive_chats_complete,
      review: facts.archive_chats_review
    },
    saving: {
      ...saved,
      stopped_chats: facts.archive_chats_stopped,
      last_sync_at: facts.archive_last_sync_at
    }
  }
}
