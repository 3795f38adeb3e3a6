/** The peer's database: its own schema, with the facts that the service's database has. */
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { Client } from "pg"

const schema = fs.readFileSync(new URL("schema.sql", import.meta.url), "utf8")

/** The rows of each of the peer's tables, as the service's database knows them. */
const facts: ReadonlyArray<readonly [table: string, query: string]> = [
  [
    "organization",
    `select organization.*, (
      select count(*) from sign_up_link where organization_id = organization.id and used_at is null) as seats_reserved
    from organization`
  ],
  ["department", "select id, organization_id, name from department"],
  ["admin", "select * from admin"],
  [
    "api_key",
    "select '\\x' || digest as digest, id, organization_id, admin_id, label, scopes, created_at, expires_at, revoked_at from api_key"
  ],
  [
    "account",
    `select account.*, archive_state.*, last_polled_at, last_poll_error, coalesce(nullif(concat_ws(' ', nullif(first_name, ''), nullif(last_name, '')), ''),
        nullif(username, ''), phone_number) as name, name_key as sort_name,
      case when offboarded_at is not null then 'available' when paused_at is not null then 'paused'
        when stopped_at is not null then 'protection_stopped' when monitoring_state = 'unknown' then 'status_unknown'
        else 'guarded' end as standing,
      case when resumed_at is null or takeover_stopped_at > resumed_at
        then takeover_stopped_at + interval '48 hours' end as blocked_until,
      case when connected_at is not null and (resumed_at is null or connected_at > resumed_at)
        then enforcement_active_at end as fresh_until,
      session_ref is not null as connected
    from account
    join monitor on monitor.organization_id = account.organization_id and monitor.account_id = account.id
    join archive_state
      on archive_state.organization_id = account.organization_id and archive_state.account_id = account.id`
  ],
  ["admin_account", "select admin_id, account_id from admin_account"],
  ["admin_department", "select admin_id, department_id from admin_department"],
  ["session", "select * from session"],
  ["termination", "select * from termination"]
]

const quoted = (name: string) => `"${name}"`

/** Brings every fact of the service's database into the peer's. */
const copyFacts = async (service: Client, peer: Client): Promise<void> => {
  for (const [table, query] of facts) {
    const { rows } = await service.query<{ all: string | null }>(
      `select json_agg(fact)::text as all from (${query}) as fact`
    )
    await peer.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [
      rows[0]?.all ?? "[]"
    ])
  }
  await peer.query("vacuum analyze")
}

export interface PeerDatabase {
  /** As the peer connects, which owns its tables. */
  readonly url: string
  readonly client: Client
  readonly remove: () => Promise<void>
}

/** Makes a database beside the service's on the same server, filled with the same facts. */
export const makePeerDatabase = async (superUrl: string, service: Client): Promise<PeerDatabase> => {
  const name = `peer_${crypto.randomBytes(6).toString("hex")}`
  const password = crypto.randomBytes(16).toString("hex")
  await service.query(`create role ${quoted(name)} login password '${password}'`)
  await service.query(`create database ${quoted(name)} owner ${quoted(name)}`)
  const address = new URL(superUrl)
  Object.assign(address, { pathname: `/${name}`, username: name, password })
  const client = new Client(address.href)
  await client.connect()
  await client.query(schema)
  await copyFacts(service, client)
  return {
    url: address.href,
    client,
    remove: async () => {
      await client.end()
      await service.query(`drop database ${quoted(name)} with (force)`)
      await service.query(`drop role ${quoted(name)}`)
    }
  }
}
