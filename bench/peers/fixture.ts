/** What every server of the comparison serves: organizations with accounts, admins and keys, made by a few statements. */
import { Redacted } from "effect"
import * as crypto from "node:crypto"
import type { Client } from "pg"
import { form } from "../../src/layers/crypto/credentials/ApiKeys.ts"

export interface Tenant {
  readonly id: string
  /** The owner's, who reaches every account. */
  readonly keys: ReadonlyArray<string>
  /** Of an admin who reaches what was granted. */
  readonly adminKeys: ReadonlyArray<string>
  /** Of an application that acts for the owner. */
  readonly tokens: ReadonlyArray<string>
  /** What both admins reach, in the order of lists. */
  readonly accounts: ReadonlyArray<string>
}

/** What the load has to know. */
export interface Fixture {
  readonly organizations: ReadonlyArray<Tenant>
}

export interface Sizes {
  readonly organizations: number
  readonly accounts: number
  /** Of each kind of credential. */
  readonly keys: number
}

/** Departments of an organization, of which the admin is granted the first. */
const departments = 10
const granted = 4

const now = "date_trunc('milliseconds', clock_timestamp())"

const organizationRows = `
  insert into organization (id, name, status, created_at, managed, billing_state, plan, period, licences_governance,
    seat_limit, archive_key_set, archive_first_record_at)
  select 'org-' || number, 'Organization ' || number, 'active', ${now}, true, 'active', 'governance', 'annual', $2,
    $2 + 100, true, ${now} - interval '90 days'
  from generate_series(1, $1::int) as number`

const departmentRows = `
  insert into department (organization_id, id, name, name_key, created_at)
  select id, gen_random_uuid(), 'Department ' || number, 'department ' || number, ${now}
  from organization, generate_series(1, ${departments}) as number`

const adminRows = `
  insert into admin (organization_id, id, email, name, role, archive_access, created_at, joined_at)
  select id, gen_random_uuid(), role || '@example.com', initcap(role) || ' of ' || id, role, true, ${now}, ${now}
  from organization, unnest(array['owner', 'admin']) as role`

/** Nine of ten are protected; every tenth is paused, offboarded, or has a sign-in to review. */
const accountRows = `
  insert into account (organization_id, id, messenger_user_id, phone_number, first_name, last_name, name_key, role_label,
    department_id, licence_tier, joined_at, connected_at, enrolled_at, enforcement_active_at, paused_at, offboarded_at,
    baselined, monitoring_state, status, review_pending, session_ref, archive_consent_at)
  select organization.id, gen_random_uuid(), 'user-' || number, '+316' || (10000000 + number), name.first, name.last,
    lower(name.first || ' ' || name.last), case when number % 3 = 0 then 'Member of staff' end, department.id,
    'governance', ${now} - interval '60 days', ${now} - interval '60 days', ${now} - interval '60 days',
    ${now} - interval '59 days', case when number % 30 = 10 then ${now} end,
    case when number % 30 = 20 then ${now} end, true, 'active',
    case number % 30 when 0 then 'new_sign_in' when 10 then 'paused' when 20 then 'available' else 'protected' end,
    number % 30 = 0, 'session-' || number,
    ${now} - interval '60 days'
  from organization
  cross join generate_series(1, $1::int) as number
  cross join lateral (values (
    (array['Ada', 'Ben', 'Clara', 'David', 'Eva', 'Femke', 'Gijs', 'Hanna', 'Iris', 'Jan'])[number % 10 + 1],
    'Person ' || lpad(number::text, 6, '0'))) as name (first, last)
  join department on department.organization_id = organization.id
    and department.name = 'Department ' || (number % ${departments} + 1)`

const archiveRows = `
  update archive_state set archive_selects = true, archive_live = true, archive_messages = number * 37, archive_media = number * 5,
    archive_bytes = number * 90001, archive_last_backup_at = ${now} - interval '1 day',
    archive_next_backup_at = ${now} + interval '1 day', archive_updated_at = ${now} - interval '1 hour',
    archive_last_sync_at = ${now} - interval '1 hour', archive_chats_discovered = 40, archive_chats_selected = 30,
    archive_chats_with_data = 28, archive_chats_complete = 27
  from account cross join lateral (values (substr(messenger_user_id, 6)::integer)) as counted (number)
  where account.organization_id = archive_state.organization_id and account.id = archive_state.account_id`

const searchRows = `
  insert into account_search (organization_id, account_id, department_id, search_text)
  select organization_id, id, department_id, '#' || substr(phone_number, 2) || E'\\n ' || lower(coalesce(role_label, ''))
    || E'\\n@\\n ' || name_key
  from account`

const monitorRows = `update monitor set last_ok_at = ${now}, last_polled_at = ${now}`

const grantRows = `
  insert into admin_department (organization_id, admin_id, department_id)
  select admin.organization_id, admin.id, department.id
  from admin join department using (organization_id)
  where admin.role = 'admin' and department.name = any(
    select 'Department ' || number from generate_series(1, ${granted}) as number)`

const sessionRows = `
  insert into session (organization_id, account_id, id, service, current, approved_at, review_deadline, device_model,
    platform, app_name, app_version, ip, country, last_active_at, created_at, seen_at)
  select organization_id, account.id, number::text, number = 1, number = 1,
    case when number = 2 then ${now} end,
    case when number = 3 and account.review_pending then ${now} + interval '2 days' end,
    'Phone ' || number, 'Android', 'Messenger', '11.2.' || number, '192.0.2.' || number, 'NL', ${now}, ${now}, ${now}
  from account, generate_series(1, 3) as number`

const terminationRows = `
  insert into termination (organization_id, account_id, session_id, device_label, detected_at, actor)
  select organization_id, account.id, number::text, 'Tablet ' || number, ${now} - number * interval '1 day', 'external'
  from account, generate_series(1, 5) as number`

const keyRows = `
  insert into api_key (organization_id, id, admin_id, label, scopes, digest, pepper_id, created_at, expires_at)
  select made.organization_id, gen_random_uuid(), admin.id, 'Key', array['org:read', 'accounts:write'], made.digest,
    'bench', ${now}, ${now} + interval '90 days'
  from unnest($1::text[], $2::text[], $3::text[]) as made (organization_id, role, digest)
  join admin on admin.organization_id = made.organization_id and admin.role = made.role`

const reachedRows = `
  select organization_id, array_agg(account.id order by name_key) as ids
  from account join admin_department using (organization_id, department_id) group by organization_id`

/** Each token is of a connection of its own, which reaches every account. */
const tokenRows = `
  with connection as (
    insert into ai_connection (organization_id, id, admin_id, kind, label, client_name, client_host, mode, scopes,
      scope_type, all_accounts, resource, created_at, last_used_at)
    select $1, gen_random_uuid(), admin.id, 'oauth', digest, 'App', 'app.example', 'cloud', array['org:read'],
      'accounts', true, $4, ${now}, ${now}
    from unnest($2::text[]) digest
    join admin on admin.organization_id = $1 and admin.role = 'owner'
    returning id, label
  )
  insert into oauth_token (organization_id, digest, pepper_id, connection_id, kind, scopes, created_at, expires_at)
  select $1, label, left(encode(sha256(decode($3, 'base64')), 'hex'), 8), id, 'access', array['org:read'], ${now},
    ${now} + interval '1 day'
  from connection`

const { write: writeKey } = form("osc_live_")
const { write: writeToken } = form("osc_oat_")

/** A new key, and the digest that it is found by under the pepper. */
export const makeKey = (pepper: string, write = writeKey) => {
  const key = Redacted.value(write(crypto.randomBytes(32)))
  return { key, digest: crypto.createHmac("sha256", Buffer.from(pepper, "base64")).update(key).digest("hex") }
}

/** Runs one statement as a superuser, whom no policy holds back. */
export type Query = (text: string, values?: Array<unknown>) => Promise<{ readonly rows: Array<unknown> }>

/** Fills a migrated database; `pepper` is what the servers are told in base64. */
export const seed = async (query: Query, pepper: string, sizes: Sizes): Promise<Fixture> => {
  await query(organizationRows, [sizes.organizations, sizes.accounts])
  await query(departmentRows)
  await query(adminRows)
  await query(accountRows, [sizes.accounts])
  await query(archiveRows)
  await query(searchRows)
  await query(monitorRows)
  await query(grantRows)
  await query(sessionRows)
  await query(terminationRows)
  const { rows } = await query(reachedRows)
  const organizations: Array<Tenant> = []
  for (const { ids, organization_id: id } of rows as Array<{ organization_id: string; ids: Array<string> }>) {
    const make = async (role: string) => {
      const keys = Array.from({ length: sizes.keys }, () => makeKey(pepper))
      await query(keyRows, [keys.map(() => id), keys.map(() => role), keys.map(({ digest }) => digest)])
      return keys.map(({ key }) => key)
    }
    organizations.push({ id, keys: await make("owner"), adminKeys: await make("admin"), tokens: [], accounts: ids })
  }
  await query("update api_key set pepper_id = left(encode(sha256(decode($1, 'base64')), 'hex'), 8)", [pepper])
  await query("vacuum analyze")
  return { organizations }
}

/** Makes access tokens of an application in each organization, for the service at the address. */
export const makeTokens = async (
  database: Client,
  pepper: string,
  { organizations }: Fixture,
  address: string,
  count: number
): Promise<Fixture> => {
  const made: Array<Tenant> = []
  for (const tenant of organizations) {
    const tokens = Array.from({ length: count }, () => makeKey(pepper, writeToken))
    await database.query(tokenRows, [tenant.id, tokens.map(({ digest }) => digest), pepper, `${address}/v1`])
    made.push({ ...tenant, tokens: tokens.map(({ key }) => key) })
  }
  return { organizations: made }
}

/** Every slot begins alike: budgets whole, no key used lately, and no rows left behind by the slot before. */
export const settle = async (service: Client, peer: Client): Promise<void> => {
  await service.query("truncate rate_limit")
  await service.query("update api_key set last_used_at = null")
  await service.query("vacuum")
  await peer.query("truncate budget")
  await peer.query("vacuum")
  await service.query("checkpoint")
}
