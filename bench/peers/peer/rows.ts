/** The rows of the statements. A moment comes as the text that the interface shows, which sorts by time. */

export interface OrganizationRow {
  readonly organization_id: string
  readonly organization_name: string
  readonly status: string
  readonly closed: boolean
  readonly managed: boolean
  readonly billing_state: string
  readonly plan: string | null
  readonly period: string | null
  readonly licences_protect: number
  readonly licences_archive: number
  readonly licences_governance: number
  readonly trial_ends_at: string | null
  readonly valid_until: string | null
  readonly seat_limit: number
  readonly seats_used: number
  readonly seats_reserved: number
  readonly tamper_lockdown_enabled: boolean
  readonly archive_key_set: boolean
  readonly archive_first_record_at: string | null
  readonly archive_plan_ended_at: string | null
  readonly archive_held_at: string | null
  readonly archive_deletion_started_at: string | null
  readonly archive_deleted_at: string | null
  readonly storage_used_bytes: number
  readonly storage_limit_bytes: number | null
}

/** Who asks, of which organization, and how the key's budget stands. */
export interface EntryRow extends OrganizationRow {
  readonly key_id: string
  readonly key_label: string
  readonly scopes: ReadonlyArray<string>
  readonly admin_id: string
  readonly admin_name: string
  readonly role: string
  readonly archive_access: boolean
  readonly admitted: boolean
  readonly used: number
  readonly oldest: number
}

export interface AccountRow {
  readonly id: string
  readonly name: string
  readonly phone_number: string
  readonly role_label: string | null
  readonly department_id: string | null
  readonly licence_tier: string | null
  readonly standing: string
  readonly blocked_until: string | null
  readonly review_pending: boolean
  readonly fresh_until: string | null
  readonly stop_reason: string | null
  readonly connected: boolean
  readonly joined_at: string | null
  readonly offboarded_at: string | null
  readonly archive_selects: boolean
  readonly archive_live: boolean
  readonly archive_messages: number
  readonly archive_media: number
  readonly archive_bytes: number
  readonly archive_last_backup_at: string | null
  readonly archive_next_backup_at: string | null
  readonly archive_updated_at: string | null
  readonly archive_last_sync_at: string | null
  readonly archive_queued_at: string | null
  readonly archive_started_at: string | null
  readonly archive_phase: string | null
  readonly archive_dialogs_done: number
  readonly archive_dialogs_total: number | null
  readonly archive_current_chat: string | null
  readonly archive_error: string | null
  readonly archive_retry_at: string | null
  readonly archive_chats_discovered: number
  readonly archive_chats_selected: number
  readonly archive_chats_with_data: number
  readonly archive_chats_complete: number
  readonly archive_chats_review: number
  readonly archive_chats_stopped: number
  readonly archive_cleanup_running: boolean
}

/** From JSON of the database, which has moments with their offset: `2026-01-01T12:00:00.5+00:00`. */
export interface SessionRow {
  readonly id: string
  readonly current: boolean
  readonly service: boolean
  readonly device_model: string | null
  readonly platform: string | null
  readonly app_name: string | null
  readonly app_version: string | null
  readonly ip: string | null
  readonly country: string | null
  readonly last_active_at: string | null
  readonly created_at: string | null
  readonly approved_at: string | null
  readonly review_deadline: string | null
  readonly queued_at: string | null
}

/** From JSON too. */
export interface TerminationRow {
  readonly session_id: string
  readonly device_label: string | null
  readonly detected_at: string
  readonly actor: string
  readonly reason: string | null
}

export interface DetailRow extends AccountRow {
  readonly messenger_user_id: string
  readonly enrolled_at: string | null
  readonly enforcement_active_at: string | null
  readonly locked_at: string | null
  readonly lock_reason: string | null
  readonly security_lock: boolean
  readonly monitoring_state: string
  readonly last_polled_at: string | null
  readonly last_poll_error: string | null
  readonly recovery: object | null
  readonly archive_consent_at: string | null
}

export interface DevicesRow extends DetailRow {
  readonly sessions: ReadonlyArray<SessionRow> | null
  readonly terminations: ReadonlyArray<TerminationRow> | null
}
