/** The rules of the interface for accounts, written by hand. */
import type { Caller } from "./entry.ts"
import { isProtectionActive, isWritable, paidPlan, planHasArchive, seats } from "./organization.ts"
import type { AccountRow, DetailRow, DevicesRow, OrganizationRow, SessionRow } from "./rows.ts"

const retryGrace = 3_600_000

const isAhead = (moment: string | null, now: string) => moment !== null && moment > now

const statusOf = (row: AccountRow, now: string) => {
  if (row.standing !== "guarded") return row.standing
  if (isAhead(row.blocked_until, now)) return "hijack_blocked"
  if (row.review_pending) return "new_sign_in"
  return isAhead(row.fresh_until, now) ? "recently_connected" : "protected"
}

const archiveStatus = (row: AccountRow, organization: OrganizationRow, now: string) => {
  if (
    row.licence_tier === "protect" || row.standing === "available" || !row.archive_selects ||
    !isWritable(organization, now)
  ) {
    return "disabled"
  }
  if (!organization.archive_key_set) return "awaiting_key"
  if (row.archive_started_at !== null) return "running"
  if (row.archive_queued_at !== null) return "queued"
  if (row.archive_error === null) return "idle"
  const retryDue = row.archive_retry_at !== null && Date.parse(row.archive_retry_at) <= Date.parse(now) + retryGrace
  return retryDue ? "idle" : "error"
}

const stopped = (reason: string) => ({ state: "stopped", reason })

const savingOf = (row: AccountRow, organization: OrganizationRow, now: string) => {
  if (row.standing === "available") return stopped("retired")
  if (row.licence_tier === "protect" || !planHasArchive(organization)) return stopped("no_archive_plan")
  const unlicensed = row.stop_reason === "licence" || row.stop_reason === "organization_suspended"
  if (unlicensed || !isProtectionActive(organization, now)) return stopped("licence_stopped")
  if (!organization.archive_key_set) return stopped("no_key")
  if (row.standing === "paused") return stopped("paused")
  if (!row.connected || row.stop_reason !== null) return stopped("no_connection")
  const { storage_limit_bytes: limit, storage_used_bytes: used } = organization
  if (limit !== null && used >= limit) return stopped("storage_full")
  const everyChat = row.archive_chats_selected > 0 && row.archive_chats_stopped >= row.archive_chats_selected
  if (everyChat || row.archive_cleanup_running) return stopped("cleanup_stopped")
  if (row.standing === "status_unknown") return { state: "check", reason: "connection_unknown" }
  if (row.archive_error !== null) return { state: row.archive_retry_at === null ? "stopped" : "check", reason: "error" }
  return { state: "saving", reason: null }
}

const showArchive = (row: AccountRow, organization: OrganizationRow, readsArchive: boolean, now: string) => {
  const status = archiveStatus(row, organization, now)
  const running = status === "running"
  const { reason, state } = savingOf(row, organization, now)
  return {
    has_key: organization.archive_key_set,
    status,
    messages: row.archive_messages,
    media: row.archive_media,
    bytes: row.archive_bytes,
    last_backup_at: row.archive_last_backup_at,
    next_backup_at: state === "stopped" && reason !== "error" ? null : row.archive_next_backup_at,
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
      state,
      reason,
      stopped_chats: row.archive_chats_stopped,
      last_sync_at: row.archive_last_sync_at
    }
  }
}

export const showAccount = (row: AccountRow, { organization, readsArchive }: Caller, now: string) => ({
  object: "account",
  id: row.id,
  name: row.name,
  phone_number: row.phone_number,
  role_label: row.role_label,
  department_id: row.department_id,
  status: statusOf(row, now),
  licence_tier: paidPlan(organization) === null ? null : row.licence_tier,
  joined_at: row.joined_at,
  offboarded_at: row.offboarded_at,
  archive: showArchive(row, organization, readsArchive, now)
})

/** A moment of the database's JSON, as the interface has it. */
const momentOf = (text: string): string => `${text.slice(0, 19)}.${text.slice(20, -6).padEnd(3, "0")}Z`

const moment = (text: string | null): string | null => text === null ? null : momentOf(text)

const showSession = (row: SessionRow, enforcement: string | null, now: string) => ({
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
  last_active_at: moment(row.last_active_at),
  created_at: moment(row.created_at),
  approved: row.approved_at !== null,
  review_deadline: moment(row.review_deadline),
  sign_out_queued: row.queued_at !== null,
  can_sign_out: enforcement !== null && now >= enforcement
})

/** What a role that protects accounts sees of its devices. */
export const showDevices = (row: DevicesRow, now: string) => ({
  monitoring: {
    state: row.monitoring_state,
    last_polled_at: row.last_polled_at,
    last_poll_error: row.last_poll_error,
    enrolled_at: row.enrolled_at,
    enforcement_active_at: row.enforcement_active_at,
    recovery: row.recovery
  },
  sessions: (row.sessions ?? []).map((session) => showSession(session, row.enforcement_active_at, now)),
  terminations: (row.terminations ?? []).map((termination) => ({
    ...termination,
    detected_at: momentOf(termination.detected_at)
  })),
  tamper: { locked_at: row.locked_at, reason: row.lock_reason },
  security_lock: { enabled: row.security_lock }
})

export const showDetail = (row: DetailRow, caller: Caller, now: string) => ({
  ...showAccount(row, caller, now),
  messenger_user_id: row.messenger_user_id,
  licence: { uses_licence: row.standing !== "available", ...seats(caller.organization) },
  archive_consent_at: row.archive_consent_at
})
