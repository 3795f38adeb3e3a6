/**
 * The SQL of the comparison: the texts that the service sends, which the peer sends too.
 *
 * The run hears what both ask for each workload, and fails where they differ but in white space.
 */

/** A statement with a name, under which each connection prepares it once. */
export interface Statement {
  readonly name: string
  readonly text: string
}

const statement = (name: string, text: string): Statement => ({ name, text: text.trim() })

export const findKey = statement(
  "find_key",
  `
  select api_key.organization_id, organization.closed_at is not null as closed, api_key.id, api_key.label,
    api_key.scopes, last_used_at is null or last_used_at <= $1 as stale, admin.id as admin_id,
    coalesce(admin.name, admin.email) as admin_name, admin.role, admin.archive_access
  from api_key
  join admin on admin.organization_id = api_key.organization_id and admin.id = api_key.admin_id
  join organization on organization.id = api_key.organization_id
  where "api_key"."digest" IN ($2)
    and revoked_at is null and (expires_at is null or expires_at > $3)
    and disabled_at is null and (password_changed_at is null or password_changed_at <= api_key.created_at)`
)

export const useKey = statement(
  "use_key",
  `
  update api_key set last_used_at = $1
  where organization_id = $2 and id = $3
    and (last_used_at is null or last_used_at <= $4)`
)

export const consume = statement(
  "consume",
  `
  insert into rate_limit (key, hits, admitted) values ($1, array[$2::bigint], true)
  on conflict (key) do update set (hits, admitted) = (
    select case when cardinality(live) < $3 then live || $4::bigint else live end,
      cardinality(live) < $5
    from (select array(
      select hit from unnest(rate_limit.hits) as hit where hit > $6 order by hit
    ) as live) as log)
  returning admitted, hits`
)

export const begin = {
  read: statement("begin_reading", "BEGIN READ ONLY"),
  write: statement("begin", "BEGIN")
}
export const commit = statement("commit", "COMMIT")

export const enter = statement(
  "enter",
  `
  select set_config('role', 'console_app', true),
    set_config('console.organization_id', $1, true)`
)

export const organizationFacts = statement(
  "organization_facts",
  `
  select id, name, status, closed_at, managed, billing_state, plan, period, licences_protect, licences_archive,
    licences_governance, trial_ends_at, valid_until, seat_limit, tamper_lockdown_enabled,
    notification_recipients, archive_key_set, archive_first_record_at, archive_plan_ended_at, archive_held_at,
    archive_deletion_started_at, archive_deleted_at, storage_used_bytes, storage_limit_bytes,
    seats_used,
    (select count(*) from sign_up_link
      where organization_id = $1 and used_at is null) as seats_reserved
  from organization where id = $2`
)

const accountColumns = `
  account.id, messenger_user_id, phone_number, first_name, last_name, username, role_label, department_id,
  licence_tier, joined_at, connected_at, enrolled_at, enforcement_active_at, offboarded_at, paused_at, resumed_at,
  stopped_at, stop_reason, takeover_stopped_at, locked_at, lock_reason, security_lock, monitoring_state,
  last_polled_at, last_poll_error, recovery, session_ref, paired_state, paired_since, paired_error, archive_consent_at,
  archive_selects, archive_live, archive_messages, archive_media, archive_bytes, archive_last_backup_at,
  archive_next_backup_at, archive_updated_at, archive_last_sync_at, archive_queued_at, archive_started_at,
  archive_phase, archive_dialogs_done, archive_dialogs_total, archive_current_chat, archive_error,
  archive_retry_at, archive_chats_discovered, archive_chats_selected, archive_chats_with_data,
  archive_chats_complete, archive_chats_review, archive_chats_stopped, archive_cleanup_running,
  review_pending`

/** Reached by a grant; the parameters from `first` on are the admin, twice. */
const granted = (first: number) =>
  `(
  exists (
    select 1 from admin_account granted
    where granted.organization_id = account.organization_id and granted.admin_id = $${first}
      and granted.account_id = account.id)
  or exists (
    select 1 from admin_department granted
    where granted.organization_id = account.organization_id and granted.admin_id = $${first + 1}
      and granted.department_id = account.department_id))`

/** The statement for each number of rows, made once. */
const byRows = (make: (rows: number) => Statement): (rows: number) => Statement => {
  const made = new Map<number, Statement>()
  return (rows) => {
    const known = made.get(rows) ?? make(rows)
    made.set(rows, known)
    return known
  }
}

/** The first rows, of a role that reaches every account or of one that reaches what was granted. */
export const listAccounts = {
  every: byRows((rows) =>
    statement(
      `list_every_account_${rows}`,
      `select ${accountColumns} from account where organization_id = $1 and 1=1 and true
      order by name_key, account.id limit ${rows}`
    )
  ),
  granted: byRows((rows) =>
    statement(
      `list_granted_accounts_${rows}`,
      `
      with page as (
        select * from ((select page.* from (select department_id from admin_department granted
          where granted.organization_id = $1 and granted.admin_id = $2 and true) as reached
          cross join lateral (select name_key, account.id from account
            where organization_id = $3 and 1=1 and account.department_id = reached.department_id and true
            order by name_key, account.id limit ${rows}) as page)
        union (select name_key, account.id from (select account_id from admin_account granted
          where granted.organization_id = $4 and granted.admin_id = $5) as reached
          join account on account.id = reached.account_id
          where organization_id = $6 and 1=1 and true order by name_key, account.id
          limit ${rows})) as found (name_key, account_id) order by name_key, account_id limit ${rows}
      )
      select ${accountColumns} from page
      join account on organization_id = $7 and account.id = page.account_id
      order by page.name_key, page.account_id`
    )
  )
}

export const findAccount = {
  every: statement(
    "find_any_account",
    `select ${accountColumns} from account where organization_id = $1 and account.id = $2 and true`
  ),
  granted: statement(
    "find_granted_account",
    `select ${accountColumns} from account where organization_id = $1 and account.id = $2 and ${granted(3)}`
  )
}

export const lockAccount = {
  every: statement("lock_any_account", `${findAccount.every.text} for no key update of account`),
  granted: statement("lock_granted_account", `${findAccount.granted.text} for no key update of account`)
}

export const sessionsOf = statement(
  "sessions",
  `
  select id, service, current, baseline, approved_at, review_deadline, queued_at, device_model, platform,
    app_name, app_version, ip, country, last_active_at, created_at, seen_at
  from session where organization_id = $1 and account_id = $2
  order by current desc, service desc, seen_at desc, id`
)

export const terminationsOf = statement(
  "terminations",
  `
  select session_id, device_label, detected_at, actor, reason
  from termination where organization_id = $1 and account_id = $2
  order by detected_at desc, id desc limit $3`
)

export const setRoleLabel = statement(
  "set_role_label",
  `
  update account set role_label = $1
  where organization_id = $2 and id = $3`
)

export const openJournal = statement(
  "open_journal",
  `
  insert into journal_head (organization_id, sequence, hash, at)
  values ($1, 0, $2, $3)
  on conflict do nothing`
)

export const lockJournal = statement(
  "lock_journal",
  "select sequence, hash, at from journal_head where organization_id = $1 for update"
)

/** The event, and the head that moves to it. */
export const appendEvent = statement(
  "append_event",
  `
  with head as (
    update journal_head set sequence = $1, hash = $2, at = $3
    where organization_id = $4
  ), unsigned as (
    insert into journal_unsigned (organization_id, due_at) values ($5, $6)
    on conflict do nothing
  ), place as (
    insert into journal_place (organization_id, sequence, department_id)
    select organization_id, $7::bigint, department_id from account
    where organization_id = $8 and account.id = $9 and department_id is not null
  )
  insert into journal_event (organization_id, sequence, id, at, action, outcome, actor_type, actor_admin_id, actor_name,
    credential_kind, credential_id, credential_label, via, account_id, target_type, target_id, details, ip, request_id,
    closes, prev_hash, hash)
  values ($10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26::jsonb, $27, $28, $29, $30,
    $31)`
)

/** The floor's one statement: what the list shows of an account, as it is stored. */
export const floorList = statement(
  "floor_list",
  `
  select id, first_name || ' ' || last_name as name, phone_number, role_label, department_id, monitoring_state as status,
    licence_tier, joined_at, offboarded_at, archive_live as has_key, archive_phase as archive_status, archive_messages,
    archive_media, archive_bytes, archive_last_backup_at, archive_next_backup_at, archive_updated_at, archive_live,
    archive_error, archive_phase, archive_chats_discovered, archive_chats_selected, archive_chats_with_data,
    archive_chats_complete, archive_chats_review, archive_chats_stopped, archive_last_sync_at
  from account where organization_id = $1 order by name_key, id limit 50`
)

export const floorAccount = statement("floor_account", "select * from account where organization_id = $1 and id = $2")

export const floorOrganization = statement("floor_organization", "select * from organization where id = $1")
