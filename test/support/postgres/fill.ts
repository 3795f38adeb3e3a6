/**
 * Fills a database with whole organizations by statements over sets, past triggers and the wall: in seconds, not hours.
 */
import { Duration } from "effect"
import type { Client } from "pg"
import { AccountStatus } from "../../../src/domain/accounts/ProtectionStatus.ts"
import { takeoverWindow } from "../../../src/domain/Limits.ts"

/** An organization to fill in; every id in it follows from its own and a number. */
export interface Filling {
  readonly id: string
  readonly accounts: number
  readonly events: number
  readonly departments: number
  /** Admins besides one of each role, each with grants, two connections and a console session. */
  readonly admins?: number
  /** The one status that everybody has; without it the statuses are spread as in a well-run organization. */
  readonly everyone?: AccountStatus
}

/** The id of the organization's nth thing of a kind. */
export const idOf = (kind: string, organizationId: string, n: number | string) =>
  `md5('${kind}/${organizationId}/' || ${n})::uuid`

/** Of 1,000 accounts, how many are in each status. */
const spread: Readonly<Record<AccountStatus, number>> = {
  available: 80,
  paused: 20,
  protection_stopped: 15,
  status_unknown: 5,
  hijack_blocked: 2,
  new_sign_in: 8,
  recently_connected: 10,
  protected: 860
}

const rank = (everyone: AccountStatus | undefined): string => {
  if (everyone !== undefined) return `'${everyone}'`
  let below = 0
  const cases = AccountStatus.literals.map((status) => {
    below += spread[status]
    return `when n * 7919 % 1000 < ${below} then '${status}'`
  })
  return `case ${cases.join(" ")} end`
}

const words = (list: string) => `(array['${list.split(" ").join("','")}'])`
const firstNames = words("Ada Ben Cara Dev Elif Femi Gus Hana Ivo Jun Kai Lea Mio Noa Olu Pia Quin Rae Sol Tom")
const lastNames = words("Ali Berg Cruz Diaz Eco Fox Gill Haas Ito Jain Kim Lang Mori Nash Okoye Park Roy Sato Tran")

const department = (id: string, departments: number, n: string) =>
  `case when ${n} % 10 <> 0 then ${idOf("department", id, `(${n} % ${departments})`)} end`

/** Members of the organization by role; the numbers name them. */
const members = ["owner", "superadmin", "admin", "billing", "archive"] as const
export type Member = (typeof members)[number]

/** How many accounts are granted one by one to each admin whose access is granted. */
const grantedAccounts = 10
/** How many departments are granted to them. */
const grantedDepartments = 3

const organization = ({ accounts, admins = 0, departments, events, everyone, id }: Filling): ReadonlyArray<string> => [
  `insert into organization (id, name, status, created_at, managed, billing_state, plan, period, licences_governance,
    seat_limit, archive_key_set)
  values ('${id}', '${id}', 'active', '2026-01-01', true, 'active', 'governance', 'annual', ${accounts},
    ${accounts}, true)`,
  `insert into department (organization_id, id, name, name_key, created_at)
  select '${id}', ${idOf("department", id, "n")}, 'Department ' || n, 'department ' || n, '2026-01-01'
  from generate_series(0, ${departments - 1}) n`,
  `insert into admin (organization_id, id, email, role, created_at, joined_at)
  select '${id}', ${idOf("admin", id, "role")}, role || '@${id}.example', role, '2026-01-01', '2026-01-01'
  from unnest(array['${members.join("','")}']) role`,
  `insert into account (organization_id, id, messenger_user_id, phone_number, first_name, last_name, name_key,
    department_id, licence_tier, joined_at, connected_at, enrolled_at, enforcement_active_at, baselined,
    monitoring_state, offboarded_at, paused_at, stopped_at, stop_reason, takeover_stopped_at, review_pending,
    status, status_until, later_statuses, status_changes)
  select '${id}', ${idOf("account", id, "n")}, '${id}/' || n, '+1' || (2000000000 + n), first, last,
    lower(first || ' ' || last), ${department(id, departments, "n")}, 'governance', at, at, at,
    case status when 'recently_connected' then now() + interval '1 day' * ((n % 23 + 1) / 24.0)
      else at + interval '1 day' end,
    true, case status when 'status_unknown' then 'unknown' else 'active' end,
    case status when 'available' then now() end, case status when 'paused' then now() end,
    case status when 'protection_stopped' then now() end, case status when 'protection_stopped' then 'session_lost' end,
    case when status = 'hijack_blocked' then now() - interval '1 hour' * (n % 40) when n % 50 = 0 then at end,
    status = 'new_sign_in', status, until, case when until is null then '{}'::text[] else array['protected'] end,
    case when until is null then '{}'::timestamptz[] else array[until] end
  from (
    select *, case status
      when 'hijack_blocked' then now() - interval '1 hour' * (n % 40) + interval '${
    Duration.toMillis(takeoverWindow)
  } ms'
      when 'recently_connected' then now() + interval '1 day' * ((n % 23 + 1) / 24.0) end as until
    from (select n, ${rank(everyone)} as status, ${firstNames}[(1 + n * 31 % 20)::int] as first,
      ${lastNames}[(1 + n * 17 % 19)::int] || ' ' || md5(n::text) as last, now() - interval '40 days' * (1 + n % 9) as at
    from generate_series(1::bigint, ${accounts}) n) as ranked
  ) as drawn`,
  `insert into account_search (organization_id, account_id, department_id, search_text)
  select organization_id, id, department_id, '#' || substr(phone_number, 2) || E'\\n \\n@\\n ' || name_key
  from account where organization_id = '${id}'`,
  `insert into archive_state (organization_id, account_id, archive_selects)
  select organization_id, id, true from account where organization_id = '${id}' on conflict do nothing`,
  `insert into session (organization_id, account_id, department_id, id, service, current, baseline, approved_at,
    review_deadline, queued_at, device_model, seen_at)
  select '${id}', id, department_id, kind, kind = 'service', kind = 'service', kind = 'tablet',
    case kind when 'desktop' then now() end, case kind when 'phone' then now() + interval '1 hour' end,
    case kind when 'laptop' then now() end, kind, now() - interval '1 second' * (hashtext(id::text) & 65535)
  from account, unnest(array['service', 'phone', 'tablet', 'desktop', 'laptop', 'watch']) kind
  where organization_id = '${id}' and offboarded_at is null and case kind when 'phone' then review_pending
    when 'laptop' then hashtext(id::text) % 100 = 0 when 'watch' then paused_at is not null else true end`,
  `update department set accounts = counted.accounts
  from (select department_id, count(*) as accounts from account where organization_id = '${id}' group by 1) as counted
  where department.organization_id = '${id}' and department.id = counted.department_id`,
  `insert into admin (organization_id, id, email, role, created_at, joined_at)
  select '${id}', ${idOf("admin", id, "n")}, 'admin' || n || '@${id}.example', 'admin', '2026-01-01', '2026-01-01'
  from generate_series(1, ${admins}) n`,
  `insert into admin_account (organization_id, admin_id, account_id)
  select '${id}', ${idOf("admin", id, "n")}, ${idOf("account", id, `(n * ${grantedAccounts} + m)`)}
  from generate_series(1, ${admins}) n, generate_series(1, ${grantedAccounts}) m`,
  `insert into admin_department (organization_id, admin_id, department_id)
  select '${id}', ${idOf("admin", id, "n")}, ${idOf("department", id, `((n + m) % ${departments})`)}
  from generate_series(1, ${admins}) n, generate_series(1, ${Math.min(departments, grantedDepartments)}) m`,
  `insert into ai_connection (organization_id, id, admin_id, kind, label, client_name, client_host, mode, scopes,
    scope_type, created_at, last_used_at)
  select '${id}', gen_random_uuid(), ${idOf("admin", id, "n")}, 'oauth', 'App', 'App', 'app.example', 'cloud',
    array['org:read'], 'departments', now(), now()
  from generate_series(1, ${admins}) n, generate_series(1, 2) m`,
  `insert into console_session (organization_id, id, admin_id, digest, created_at, last_used_at)
  select '${id}', gen_random_uuid(), ${idOf("admin", id, "n")}, '${id}/' || n, now(), now()
  from generate_series(1, ${admins}) n`,
  `update organization set seats_used =
    (select count(*) from account where organization_id = '${id}' and offboarded_at is null) where id = '${id}'`,
  `insert into admin_account (organization_id, admin_id, account_id)
  select '${id}', ${idOf("admin", id, "role")}, ${idOf("account", id, "n")}
  from unnest(array['admin', 'archive']) role, generate_series(1, ${Math.min(accounts, grantedAccounts)}) n`,
  `insert into admin_department (organization_id, admin_id, department_id)
  select '${id}', ${idOf("admin", id, "role")}, ${idOf("department", id, "n")}
  from unnest(array['admin', 'archive']) role, generate_series(0, ${Math.min(departments, grantedDepartments) - 1}) n`,
  `insert into journal_head select '${id}', ${events}, repeat('0', 64), now() where ${events} > 0`,
  `insert into journal_event (organization_id, sequence, id, at, action, outcome, actor_type, actor_admin_id,
    credential_kind, credential_id, credential_label, via, account_id, target_type, target_id, details, prev_hash, hash)
  select '${id}', n, ${idOf("event", id, "n")}, now() - interval '1 second' * (${events} - n),
    case when n % 40 = 3 then 'organization.recipients_changed' when n % 4 = 0 then 'account.role_label_changed'
      when n % 4 = 1 then 'account.paused' when n % 4 = 2 then 'account.resumed'
      else 'messenger_profile.updated' end,
    case when n % 100 = 7 then 'failed' when n % 100 = 11 then 'refused' else 'done' end,
    case when role is null then 'service' else 'admin' end, ${idOf("admin", id, "role")},
    case when role is not null then 'api_key' end, case when role is not null then ${idOf("key", id, "role")}::text end,
    case when role is not null then 'Key' end, 'rest', account_id,
    case when account_id is not null then 'account' end, account_id::text, '{}', repeat('0', 64), repeat('0', 64)
  from (
    select n, role, place, case when n % 40 <> 3 then ${idOf("account", id, "place")} end as account_id
    from (
      select n, 1 + (n * 7919 + n / 13) % ${accounts} as place,
        (array['owner', 'superadmin', 'admin', 'archive', null])[(1 + n * 31 % 5)::int] as role
      from generate_series(1::bigint, ${events}) n
    ) as numbered
  ) as drawn`,
  `insert into journal_place (organization_id, sequence, department_id)
  select organization_id, sequence, department_id from journal_event join account using (organization_id)
  where organization_id = '${id}' and account.id = account_id and department_id is not null`
]

interface Index {
  readonly name: string
  readonly definition: string
}

/** Takes the plain indexes of the tables away while the rows come, and makes them again. */
const withoutIndexes = async (client: Client, tables: ReadonlyArray<string>, work: () => Promise<void>) => {
  const { rows } = await client.query<Index>(
    `select indexname as name, indexdef as definition from pg_indexes
    where schemaname = 'public' and tablename = any($1) and indexdef not like 'CREATE UNIQUE %'`,
    [tables]
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await work()
  for (const { definition } of rows) await client.query(definition)
}

/** Fills the organizations in, as a superuser; `said` hears of each that is done. */
export const fillDatabase = async (
  client: Client,
  organizations: ReadonlyArray<Filling>,
  said: (id: string) => void = () => {}
): Promise<void> => {
  // Triggers and foreign keys rest, and the counts that triggers keep are written directly.
  await client.query("set session_replication_role = replica")
  await withoutIndexes(client, ["account", "session", "journal_event", "journal_place"], async () => {
    for (const filling of organizations) {
      for (const statement of organization(filling)) await client.query(statement)
      said(filling.id)
    }
  })
  await client.query("set session_replication_role = origin")
  await client.query("analyze")
}
