/** The rows of the statements, as far as the peer reads them. */

export interface KeyRow {
  readonly organization_id: string
  readonly closed: boolean
  readonly id: string
  readonly label: string
  readonly scopes: ReadonlyArray<string>
  readonly stale: boolean
  readonly admin_id: string
  readonly admin_name: string
  readonly role: string
  readonly archive_access: boolean
}

export interface OrganizationRow {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly managed: boolean
  readonly billing_state: string
  readonly plan: string | null
  readonly period: string | null
  readonly licences_protect: number
  readonly licences_archive: number
  readonly licences_governance: number
  readonly trial_ends_at: Date | null
  readonly valid_until: Date | null
  readonly seat_limit: number
  readonly seats_used: number
  readonly seats_reserved: number
  readonly tamper_lockdown_enabled: boolean
  readonly archive_key_set: boolean
  readonly archive_first_record_at: Date | null
  readonly archive_plan_ended_at: Date | null
  readonly archive_held_at: Date | null
  readonly archive_deletion_started_at: Date | null
  readonly archive_deleted_at: Date | null
  readonly storage_used_bytes: number
  readonly storage_limit_bytes: number | null
}

export interface AccountRow {
  readonly id: string
  readonly messenger_user_id: string
  readonly phone_number: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly username: string | null
  readonly role_label: string | null
  readonly department_id: string | null
  readonly licence_tier: string | null
  readonly joined_at: Date | null
  readonly connected_at: Date | null
  readonly enrolled_at: Date | null
  readonly enforcement_active_at: Date | null
  readonly offboarded_at: Date | null
  readonly paused_at: Date | null
  readonly resumed_at: Date | null
  readonly stopped_at: Date | null
  readonly stop_reason: string | null
  readonly takeover_stopped_at: Date | null
  readonly locked_at: Date | null
  readonly lock_reason: string | null
  readonly security_lock: boolean
  readonly monitoring_state: string
  readonly last_polled_at: Date | null
  readonly last_poll_error: string | null
  readonly recovery: object | null
  readonly session_ref: string | null
  readonly archive_consent_at: Date | null
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
  readonly archive_phase: string | null
  readonly archive_dialogs_done: number
  readonly archive_dialogs_total: number | null
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
  readonly review_pending: boolean
}

export interface SessionRow {
  readonly id: string
  readonly service: boolean
  readonly current: boolean
  readonly approved_at: Date | null
  readonly review_deadline: Date | null
  readonly queued_at: Date | null
  readonly device_model: string | null
  readonly platform: string | null
  readonly app_name: string | null
  readonly app_version: string | null
  readonly ip: string | null
  readonly country: string | null
  readonly last_active_at: Date | null
  readonly created_at: Date | null
}

export interface TerminationRow {
  readonly session_id: string
  readonly device_label: string | null
  readonly detected_at: Date
  readonly actor: string
  readonly reason: string | null
}
