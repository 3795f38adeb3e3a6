/** Stored facts for tests of the pure functions: an account that is protected and an organization that is active. */
import { type AccountFacts, AccountId } from "../../src/domain/accounts/Account.ts"
import type { OrganizationFacts } from "../../src/domain/organization/Organization.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import type { SessionFacts } from "../../src/domain/sessions/Session.ts"

export const hour = 3_600_000
export const day = 24 * hour

/** The instant at which the tests ask. */
export const now = new Date("2026-03-02T12:00:00.000Z")

/** So many milliseconds after `now`, or before it. */
export const at = (offset: number): Date => new Date(now.getTime() + offset)

export const organizationFacts = (facts: Partial<OrganizationFacts> = {}): OrganizationFacts => ({
  id: OrganizationId.make("acme"),
  name: "Acme",
  status: "active",
  suspend_reason: null,
  closed_at: null,
  managed: true,
  billing_state: "active",
  plan: "archive",
  period: "annual",
  licences_protect: 0,
  licences_archive: 10,
  licences_governance: 0,
  trial_ends_at: null,
  valid_until: null,
  seat_limit: 10,
  seats_used: 3,
  seats_reserved: 2,
  tamper_lockdown_enabled: true,
  notification_recipients: "owner",
  archive_key_set: true,
  archive_first_record_at: at(-90 * day),
  archive_plan_ended_at: null,
  archive_held_at: null,
  archive_deletion_started_at: null,
  archive_deleted_at: null,
  storage_used_bytes: 0,
  storage_limit_bytes: null,
  ...facts
})

export const accountFacts = (facts: Partial<AccountFacts> = {}): AccountFacts => ({
  id: AccountId.make("0196f0a0-0000-7000-8000-000000000001"),
  messenger_user_id: "6000000001",
  phone_number: "+4915112345678",
  first_name: "Ada",
  last_name: "Lovelace",
  username: "ada",
  role_label: null,
  department_id: null,
  licence_tier: "archive",
  joined_at: at(-90 * day),
  connected_at: at(-90 * day),
  enrolled_at: at(-90 * day),
  enforcement_active_at: at(-89 * day),
  offboarded_at: null,
  paused_at: null,
  resumed_at: null,
  stopped_at: null,
  stop_reason: null,
  takeover_stopped_at: null,
  monitoring_state: "active",
  review_pending: false,
  recovery: null,
  archive_consent_at: null,
  locked_at: null,
  lock_reason: null,
  security_lock: false,
  paired_state: "none",
  paired_since: null,
  paired_error: null,
  session_ref: "simulated-1",
  archive_selects: true,
  archive_live: true,
  archive_messages: 0,
  archive_media: 0,
  archive_bytes: 0,
  archive_last_backup_at: null,
  archive_next_backup_at: null,
  archive_updated_at: null,
  archive_last_sync_at: null,
  archive_queued_at: null,
  archive_started_at: null,
  archive_phase: null,
  archive_current_chat: null,
  archive_dialogs_done: 0,
  archive_dialogs_total: null,
  archive_phase_at: null,
  archive_dialogs_before: 0,
  archive_messages_before: 0,
  archive_bytes_before: 0,
  archive_error: null,
  archive_retry_at: null,
  archive_chats_discovered: 0,
  archive_chats_selected: 0,
  archive_chats_with_data: 0,
  archive_chats_complete: 0,
  archive_chats_review: 0,
  archive_chats_stopped: 0,
  archive_cleanup_running: false,
  ...facts
})

export const sessionFacts = (facts: Partial<SessionFacts> = {}): SessionFacts => ({
  id: "8000000000000000001",
  service: false,
  current: false,
  baseline: false,
  approved_at: null,
  review_deadline: null,
  queued_at: null,
  device_model: null,
  platform: null,
  app_name: null,
  app_version: null,
  ip: null,
  country: null,
  last_active_at: null,
  created_at: null,
  seen_at: at(-hour),
  ...facts
})
