/** The stored columns of a seed file's entries. */
import { resolve, type SeedAccount, type SeedOrganization, type SeedSession } from "./Seed.ts"

/** The members that are set, moments resolved. */
export const columns = (
  now: Date,
  plain: Readonly<Record<string, unknown>>,
  moments: Readonly<Record<string, string | null | undefined>>
) => ({
  ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
  ...Object.fromEntries(
    Object.entries(moments).flatMap(([name, moment]) =>
      moment === undefined ? [] : [[name, moment === null ? null : resolve(moment, now)]]
    )
  )
})

/** The results of an account's polls. */
const monitorFacts = ({ monitoring = {} }: SeedAccount, now: Date) =>
  columns(now, { failures: monitoring.failures, last_poll_error: monitoring.last_poll_error }, {
    last_ok_at: monitoring.last_ok_at,
    last_polled_at: monitoring.last_polled_at
  })

/** The columns of an account. */
export const accountFacts = (account: SeedAccount, departmentId: string | undefined, now: Date) => {
  const { archive = {}, monitoring = {}, paired_session: paired } = account
  return {
    ...monitorFacts(account, now),
    ...columns(now, {
      role_label: account.role_label,
      department_id: departmentId,
      licence_tier: account.licence_tier,
      stop_reason: account.stop_reason,
      lock_reason: account.lock_reason,
      security_lock: account.security_lock,
      monitoring_state: monitoring.state,
      recovery: monitoring.recovery,
      paired_state: paired?.state,
      paired_error: paired?.error,
      archive_selects: archive.selects,
      archive_live: archive.live,
      archive_messages: archive.messages,
      archive_media: archive.media,
      archive_bytes: archive.bytes,
      archive_phase: archive.phase,
      archive_dialogs_done: archive.dialogs_done,
      archive_dialogs_total: archive.dialogs_total,
      archive_error: archive.error,
      archive_chats_discovered: archive.chats_discovered,
      archive_chats_selected: archive.chats_selected,
      archive_chats_with_data: archive.chats_with_data,
      archive_chats_complete: archive.chats_complete,
      archive_chats_review: archive.chats_review,
      archive_chats_stopped: archive.chats_stopped,
      archive_cleanup_running: archive.cleanup_running
    }, {
      joined_at: account.joined_at,
      connected_at: account.connected_at,
      enrolled_at: account.enrolled_at,
      enforcement_active_at: account.enforcement_active_at,
      offboarded_at: account.offboarded_at,
      paused_at: account.paused_at,
      resumed_at: account.resumed_at,
      stopped_at: account.stopped_at,
      takeover_stopped_at: account.takeover_stopped_at,
      locked_at: account.locked_at,
      paired_since: paired?.since,
      archive_consent_at: account.archive_consent_at,
      archive_last_backup_at: archive.last_backup_at,
      archive_next_backup_at: archive.next_backup_at,
      archive_updated_at: archive.updated_at,
      archive_last_sync_at: archive.last_sync_at,
      archive_queued_at: archive.queued_at,
      archive_started_at: archive.started_at,
      archive_retry_at: archive.retry_at
    })
  }
}

/** The columns of an organization. */
export const organizationFacts = (seed: SeedOrganization, now: Date) => ({
  simulated: true,
  ...columns(now, {
    status: seed.status,
    managed: seed.managed,
    billing_state: seed.billing_state,
    plan: seed.plan,
    period: seed.period,
    licences_protect: seed.licences?.protect,
    licences_archive: seed.licences?.archive,
    licences_governance: seed.licences?.governance,
    seat_limit: seed.seat_limit,
    tamper_lockdown_enabled: seed.tamper_lockdown_enabled,
    notification_recipients: seed.notification_recipients,
    archive_key_set: seed.archive?.key_set,
    storage_used_bytes: seed.storage_used_bytes,
    storage_limit_bytes: seed.storage_limit_bytes
  }, {
    closed_at: seed.closed_at,
    trial_ends_at: seed.trial_ends_at,
    valid_until: seed.valid_until,
    archive_first_record_at: seed.archive?.first_record_at,
    archive_plan_ended_at: seed.archive?.plan_ended_at,
    archive_held_at: seed.archive?.held_at,
    archive_deletion_started_at: seed.archive?.deletion_started_at,
    archive_deleted_at: seed.archive?.deleted_at
  })
})

type Admin = SeedOrganization["admins"][number]

/** The columns of an admin. */
export const adminFacts = (admin: Admin, now: Date) => ({
  ...columns(now, {
    archive_access: admin.archive_access,
    mail_security: admin.mail?.security,
    mail_storage: admin.mail?.storage,
    mail_news: admin.mail?.news,
    mail_offers: admin.mail?.offers
  }, { disabled_at: admin.disabled_at, password_changed_at: admin.password_changed_at }),
  ...(admin.sign_in === false ? { joined_at: null } : {})
})

/** The columns of a session but its id and who approved it. */
export const sessionFacts = (session: SeedSession, now: Date) => ({
  seen_at: resolve(session.seen_at ?? session.created_at ?? "-30d", now),
  ...columns(now, {
    service: session.service,
    current: session.current,
    baseline: session.baseline,
    device_model: session.device_model,
    platform: session.platform,
    app_name: session.app_name,
    app_version: session.app_version,
    ip: session.ip,
    country: session.country
  }, {
    approved_at: session.approved_at,
    review_deadline: session.review_deadline,
    queued_at: session.queued_at,
    last_active_at: session.last_active_at,
    created_at: session.created_at
  })
})
