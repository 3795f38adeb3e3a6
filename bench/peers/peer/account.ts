/** The rules of the interface for accounts, written by hand. */
import type { Caller } from "./admission.ts"
import { isProtectionActive, isWritable, paidPlan, planHasArchive, seats } from "./organization.ts"
import type { AccountRow, OrganizationRow, SessionRow, TerminationRow } from "./rows.ts"

const hour = 3_600_000
const takeoverWindow = 48 * hour
const retryGrace = hour

const isAfter = (moment: Date, other: Date | null) => other === null || moment > other

const statusOf = (row: AccountRow, now: number) => {
  if (row.offboarded_at !== null) return "available"
  if (row.paused_at !== null) return "paused"
  if (row.stopped_at !== null) return "protection_stopped"
  if (row.monitoring_state === "unknown") return "status_unknown"
  const takeover = row.takeover_stopped_at
  if (takeover !== null && isAfter(takeover, row.resumed_at) && now < takeover.getTime() + takeoverWindow) {
    return "hijack_blocked"
  }
  if (row.review_pending) return "new_sign_in"
  if (
    row.connected_at !== null && isAfter(row.connected_at, row.resumed_at) &&
    row.enforcement_active_at !== null && now < row.enforcement_active_at.getTime()
  ) {
    return "recently_connected"
  }
  return "protected"
}

const nameOf = ({ first_name, last_name, phone_number, username }: AccountRow) => {
  const name = [first_name, last_name].filter((part) => part !== null && part !== "").join(" ")
  if (name !== "") return name
  return username === null || username === "" ? phone_number : username
}

const archiveStatus = (row: AccountRow, organization: OrganizationRow, now: number) => {
  if (
    row.licence_tier === "protect" || !isWritable(organization, now) || row.offboarded_at !== null ||
    !row.archive_selects
  ) {
    return "disabled"
  }
  if (!organization.archive_key_set) return "awaiting_key"
  if (row.archive_started_at !== null) return "running"
  if (row.archive_queued_at !== null) return "queued"
  const retryDue = row.archive_retry_at !== null && row.archive_retry_at.getTime() <= now + retryGrace
  return row.archive_error !== null && !retryDue ? "error" : "idle"
}

const stopped = (reason: string) => ({ state: "stopped", reason })

const savingOf = (row: AccountRow, organization: OrganizationRow, now: number) => {
  if (row.offboarded_at !== null) return stopped("retired")
  if (row.licence_tier === "protect" || !planHasArchive(organization)) return stopped("no_archive_plan")
  const licence = row.stop_reason === "licence" || row.stop_reason === "organization_suspended"
  if ((row.stopped_at !== null && licence) || !isProtectionActive(organization, now)) return stopped("licence_stopped")
  if (!organization.archive_key_set) return stopped("no_key")
  if (row.paused_at !== null) return stopped("paused")
  if (row.session_ref === null || row.stopped_at !== null) return stopped("no_connection")
  const { storage_limit_bytes: limit, storage_used_bytes: used } = organization
  if (limit !== null && used >= limit) return stopped("storage_full")
  const everyChat = row.archive_chats_selected > 0 && row.archive_chats_stopped >= row.archive_chats_selected
  if (everyChat || row.archive_cleanup_running) return stopped("cleanup_stopped")
  if (row.monitoring_state === "unknown") return { state: "check", reason: "connection_unknown" }
  if (row.archive_error !== null) return { state: row.archive_retry_at === null ? "stopped" : "check", reason: "error" }
  return { state: "saving", reason: null }
}

const showArchive = (row: AccountRow, organization: OrganizationRow, readsArchive: boolean, now: number) => {
  const status = archiveStatus(row, organization, now)
  const running = status === "running"
  return {
    has_key: organization.archive_key_set,
    status,
    messages: row.archive_messages,
    media: row.archive_media,
    bytes: row.archive_bytes,
    last_backup_at: row.archive_last_backup_at,
    next_backup_at: row.archive_next_backup_at,
    updated_at: row.archive_updated_at,
    live_archive: row.archive_live,
    error: row.archive_error === null || readsArchive ? row.archive_error : "archive_error",
    phase: running ? row.archive_phase ?? "starting" : null,
    running: running
      ? {
        dialogs_done: row.archive_dialogs_done,
        dialogs_total: row.archive_dialogs_total,
        current_chat: readsArchive ? row.archive_current_chat : null
      }
      : null,
    chats: {
      discovered: row.archive_chats_discovered,
      selected: row.archive_chats_selected,
      with_data: row.archive_chats_with_data,
      complete: row.archive_chats_complete,
      review: row.archive_chats_review
    },
    saving: {
      ...savingOf(row, organization, now),
      stopped_chats: row.archive_chats_stopped,
      last_sync_at: row.archive_last_sync_at
    }
  }
}

export const showAccount = (row: AccountRow, organization: OrganizationRow, caller: Caller, now: number) => ({
  object: "account",
  id: row.id,
  name: nameOf(row),
  phone_number: row.phone_number,
  role_label: row.role_label,
  department_id: row.department_id,
  status: statusOf(row, now),
  licence_tier: paidPlan(organization) === null ? null : row.licence_tier,
  joined_at: row.joined_at,
  offboarded_at: row.offboarded_at,
  archive: showArchive(row, organization, caller.readsArchive, now)
})

const showSession = (row: SessionRow, enforcement: Date | null, now: number) => ({
  object: "session",
  id: row.id,
  current: row.current,
  service_session: row.service,
  device_model: row.device_model,
  platform: row.platform,
  app_name: row.app_name,
  app_version: row.app_version,
  ip: row.ip,
  country: row.country,
  last_active_at: row.last_active_at,
  created_at: row.created_at,
  approved: row.approved_at !== null,
  review_deadline: row.review_deadline,
  sign_out_queued: row.queued_at !== null,
  can_sign_out: enforcement !== null && now >= enforcement.getTime()
})

/** What a role that protects accounts sees of its devices. */
export const showDevices = (
  row: AccountRow,
  sessions: ReadonlyArray<SessionRow>,
  terminations: ReadonlyArray<TerminationRow>,
  now: number
) => ({
  monitoring: {
    state: row.monitoring_state,
    last_polled_at: row.last_polled_at,
    last_poll_error: row.last_poll_error,
    enrolled_at: row.enrolled_at,
    enforcement_active_at: row.enforcement_active_at,
    recovery: row.recovery
  },
  sessions: sessions.map((session) => showSession(session, row.enforcement_active_at, now)),
  terminations,
  tamper: { locked_at: row.locked_at, reason: row.lock_reason },
  security_lock: { enabled: row.security_lock }
})

export const showDetail = (row: AccountRow, organization: OrganizationRow, caller: Caller, now: number) => ({
  ...showAccount(row, organization, caller, now),
  messenger_user_id: row.messenger_user_id,
  licence: { uses_licence: row.offboarded_at === null, ...seats(organization) },
  archive_consent_at: row.archive_consent_at
})
