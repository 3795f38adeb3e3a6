/** The peer's statements. */
import type { Statement } from "./database.ts"

const statement = (name: string, text: string): Statement => ({ name, text: text.trim() })

const window = 60_000
export const limit = 120

/** The budget's next state: the hits of the last minute, and this one where it is admitted. */
const nextHits = (now: string) => `
  select case when cardinality(live) < ${limit} then live || greatest(${now}, live[cardinality(live)]) else live end,
    cardinality(live) < ${limit}
  from (select kept.hits[width_bucket(${now} - ${window}, kept.hits) + 1 :] as live) as log`

/** The key with its admin and organization, and its budget, which counts the request. */
export const enter = statement(
  "enter",
  `
  with entered as (
    select api_key.id as key_id, api_key.label as key_label, api_key.scopes, admin.id as admin_id,
      coalesce(admin.name, admin.email) as admin_name, admin.role, admin.archive_access, api_key.organization_id,
      organization.name as organization_name, organization.status, organization.closed_at is not null as closed,
      managed, billing_state, plan, period, licences_protect, licences_archive, licences_governance, trial_ends_at,
      valid_until, seat_limit, seats_used, seats_reserved, tamper_lockdown_enabled, archive_key_set,
      archive_first_record_at, archive_plan_ended_at, archive_held_at, archive_deletion_started_at, archive_deleted_at,
      storage_used_bytes, storage_limit_bytes
    from api_key
    join admin on admin.id = api_key.admin_id
    join organization on organization.id = api_key.organization_id
    where api_key.digest = $1
      and revoked_at is null and (expires_at is null or expires_at > now())
      and disabled_at is null and (password_changed_at is null or password_changed_at <= api_key.created_at)
  ), counted as (
    insert into budget as kept (key_id, hits, admitted)
    select key_id, array[$2::bigint], true from entered
    on conflict (key_id) do update set (hits, admitted) = (${nextHits("$2::bigint")})
    returning admitted, cardinality(hits) as used, hits[1] as oldest
  )
  select * from entered, counted`
)

/** Counts further messages of one request. */
export const count = statement(
  "count",
  `
  insert into budget as kept (key_id, hits, admitted) values ($1, array[$2::bigint], true)
  on conflict (key_id) do update set (hits, admitted) = (${nextHits("$2::bigint")})
  returning admitted, cardinality(hits) as used, hits[1] as oldest`
)

/** Notes for many keys at once when each was used last. */
export const noteUses = statement(
  "note_uses",
  `
  insert into api_key_use (key_id, used_at)
  select key_id, to_timestamp(used / 1000.0) from unnest($1::uuid[], $2::bigint[]) as noted (key_id, used)
  on conflict (key_id) do update set used_at = greatest(api_key_use.used_at, excluded.used_at)`
)

const accountColumns = `
  account.id, name, phone_number, role_label, department_id, licence_tier, standing, blocked_until, review_pending,
  fresh_until, stop_reason, connected, joined_at, offboarded_at, archive_selects, archive_live, archive_messages,
  archive_media, archive_bytes, archive_last_backup_at, archive_next_backup_at, archive_updated_at,
  archive_last_sync_at, archive_queued_at, archive_started_at, archive_phase, archive_dialogs_done,
  archive_dialogs_total, archive_current_chat, archive_error, archive_retry_at, archive_chats_discovered,
  archive_chats_selected, archive_chats_with_data, archive_chats_complete, archive_chats_review,
  archive_chats_stopped, archive_cleanup_running`

/** Reached by a grant to the admin that the parameter names. */
const granted = (parameter: string) =>
  `(
  department_id in (select department_id from admin_department where admin_id = ${parameter})
  or account.id in (select account_id from admin_account where admin_id = ${parameter}))`

/** Accounts in each status: by what does not change with time alone, and by time. */
const inStatus: Readonly<Record<string, string>> = {
  available: "standing = 'available'",
  paused: "standing = 'paused'",
  protection_stopped: "standing = 'protection_stopped'",
  status_unknown: "standing = 'status_unknown'",
  hijack_blocked: "standing = 'guarded' and blocked_until > now()",
  new_sign_in: "standing = 'guarded' and (blocked_until > now()) is not true and review_pending",
  recently_connected:
    "standing = 'guarded' and (blocked_until > now()) is not true and not review_pending and fresh_until > now()",
  protected: `standing = 'guarded' and (blocked_until > now()) is not true and not review_pending
    and (fresh_until > now()) is not true`
}

export interface Page {
  readonly limit: number
  readonly status?: string | undefined
  readonly departmentId?: string | undefined
  readonly after?: string | undefined
  /** The admin whose grants bound the list. */
  readonly grantedTo?: string | undefined
}

const lists = new Map<string, Statement>()

/** The rows of a page and one more, with their parameters; a statement for each shape, the limit in it, is made once. */
export const listAccounts = (
  organizationId: string,
  { after, departmentId, grantedTo, limit, status }: Page
): readonly [Statement, ReadonlyArray<unknown>] => {
  const values: Array<unknown> = [organizationId]
  const name = `list_${limit}_${status ?? ""}_${departmentId === undefined ? "" : "d"}${
    after === undefined ? "" : "a"
  }${grantedTo === undefined ? "" : "g"}`
  const parameter = (value: unknown) => `$${values.push(value)}`
  const conditions = ["organization_id = $1"]
  if (status !== undefined) conditions.push(inStatus[status] ?? "false")
  if (departmentId !== undefined) conditions.push(`department_id = ${parameter(departmentId)}`)
  const reach = grantedTo === undefined ? undefined : granted(parameter(grantedTo))
  if (reach !== undefined) conditions.push(reach)
  if (after !== undefined) {
    const cursor = (column: string, id: string) =>
      `(select ${column} from account where organization_id = $1 and id = ${id}${
        reach === undefined ? "" : ` and ${reach}`
      })`
    const id = parameter(after)
    conditions.push(`(sort_name, id) > (${cursor("sort_name", id)}, ${cursor("id", id)})`)
  }
  let known = lists.get(name)
  if (known === undefined) {
    known = statement(
      name,
      `select ${accountColumns} from account where ${conditions.join(" and ")} order by sort_name, id limit ${
        limit + 1
      }`
    )
    lists.set(name, known)
  }
  return [known, values]
}

/** Whether the account is there and reached; the second parameter's admin is null where every account is. */
export const isReached = statement(
  "is_reached",
  `select id from account where organization_id = $1 and id = $3 and ($2::uuid is null or ${granted("$2")})`
)

const detailColumns = `${accountColumns}, messenger_user_id, enrolled_at, enforcement_active_at, locked_at, lock_reason,
  security_lock, monitoring_state, last_polled_at, last_poll_error, recovery, archive_consent_at`

export const findAccount = statement(
  "find_account",
  `
  select ${detailColumns} from account
  where id = $3 and organization_id = $1 and ($2::uuid is null or ${granted("$2")})`
)

/** The same with its sessions and those that ended, as lists of JSON. */
export const findAccountWithDevices = statement(
  "find_account_with_devices",
  `
  select ${detailColumns}, (
      select json_agg(shown) from (
        select id, current, service, device_model, platform, app_name, app_version, ip, country, last_active_at,
          created_at, approved_at, review_deadline, queued_at
        from session where account_id = $3
        order by current desc, service desc, seen_at desc, id) as shown
    ) as sessions, (
      select json_agg(shown) from (
        select session_id, device_label, detected_at, actor, reason
        from termination where account_id = $3 order by detected_at desc, id desc limit 20) as shown
    ) as terminations
  from account
  where id = $3 and organization_id = $1 and ($2::uuid is null or ${granted("$2")})`
)

export const setRoleLabel = statement(
  "set_role_label",
  `select ${accountColumns} from set_role_label($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as account`
)
