/** The columns of an account that its facts are read from. */
import type { AccountFacts, ListedFacts } from "../../../domain/accounts/Account.ts"
import type { ArchiveFacts } from "../../../domain/archive/ArchiveSummary.ts"

type ArchiveState = Omit<ArchiveFacts, "licence_tier" | "stop_reason" | "session_ref">

/** Each column has the name of its fact. */
const listed: { readonly [Fact in Exclude<keyof ListedFacts, "id" | keyof ArchiveState>]: true } = {
  phone_number: true,
  first_name: true,
  last_name: true,
  username: true,
  role_label: true,
  department_id: true,
  licence_tier: true,
  joined_at: true,
  connected_at: true,
  enforcement_active_at: true,
  offboarded_at: true,
  paused_at: true,
  resumed_at: true,
  stopped_at: true,
  stop_reason: true,
  takeover_stopped_at: true,
  monitoring_state: true,
  review_pending: true,
  session_ref: true
}

const archived: { readonly [Fact in keyof ArchiveState]: true } = {
  archive_selects: true,
  archive_live: true,
  archive_messages: true,
  archive_media: true,
  archive_bytes: true,
  archive_last_backup_at: true,
  archive_next_backup_at: true,
  archive_updated_at: true,
  archive_last_sync_at: true,
  archive_queued_at: true,
  archive_started_at: true,
  archive_phase: true,
  archive_dialogs_done: true,
  archive_dialogs_total: true,
  archive_phase_at: true,
  archive_dialogs_before: true,
  archive_messages_before: true,
  archive_bytes_before: true,
  archive_current_chat: true,
  archive_error: true,
  archive_retry_at: true,
  archive_chats_discovered: true,
  archive_chats_selected: true,
  archive_chats_with_data: true,
  archive_chats_complete: true,
  archive_chats_review: true,
  archive_chats_stopped: true,
  archive_cleanup_running: true
}

const further: { readonly [Fact in Exclude<keyof AccountFacts, keyof ListedFacts>]: true } = {
  messenger_user_id: true,
  enrolled_at: true,
  locked_at: true,
  lock_reason: true,
  security_lock: true,
  recovery: true,
  paired_state: true,
  paired_since: true,
  paired_error: true,
  archive_consent_at: true
}

const archiveColumns = Object.keys(archived).join(", ")

/** The columns of lists as a statement selects them from `account` and `archive`. */
export const listedColumns = ["account.id", ...Object.keys(listed), archiveColumns].join(", ")

/** All of them. */
export const accountColumns = [listedColumns, ...Object.keys(further)].join(", ")

const archiveOf = (fence: string) =>
  `cross join lateral (
  select ${archiveColumns} from archive_state
  where archive_state.organization_id = account.organization_id and archive_state.account_id = account.id
  ${fence}) as archive`

/** The archive of each `account` before it in a statement, as `archive`. */
export const withArchive = archiveOf("")

/** The same of a page of accounts: the fence has each found by its id, as a plan may expect more of them. */
export const withArchiveOfFew = archiveOf("offset 0")
