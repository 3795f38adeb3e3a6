/** Credentials and accounts that are refused, for the conformance run: one for each reason. */
import * as crypto from "node:crypto"
import type { Client } from "pg"
import { makeKey, type Tenant } from "./fixture.ts"

export interface Strangers {
  /** Without the scope that changes accounts. */
  readonly reading: string
  readonly billing: string
  readonly revoked: string
  readonly expired: string
  readonly unknown: string
  /** Of an organization that was wound down. */
  readonly closed: string
  /** Its budget is spent by the step `exhaust`. */
  readonly exhausted: string
  /** Of the organization, but not granted to its admin. */
  readonly ungranted: string
  /** Of another organization. */
  readonly foreign: string
  readonly values: Readonly<Record<Step, ReadonlyArray<unknown>>>
}

/**
 * What is done in a database before each of the two is asked: `exhaust` spends the budget of the key `exhausted`, and
 * `relabel` gives the first account the label `Before`.
 */
export type Step = "exhaust" | "relabel"

const keyRow = `
  insert into api_key (organization_id, id, admin_id, label, scopes, digest, pepper_id, created_at, expires_at, revoked_at)
  select organization_id, gen_random_uuid(), id, 'Stranger', $3::text[], $4, left(encode(sha256(decode($7, 'base64')), 'hex'), 8), clock_timestamp(), $5, $6
  from admin where organization_id = $1 and role = $2`

const closedRows = `
  with closed as (
    insert into organization (id, name, status, created_at, closed_at, managed, billing_state, seat_limit)
    values ('closed', 'Closed', 'suspended', clock_timestamp(), clock_timestamp(), true, 'none', 0)
    on conflict do nothing returning id)
  insert into admin (organization_id, id, email, role, created_at)
  select id, gen_random_uuid(), 'owner@example.com', 'owner', clock_timestamp() from closed`

const billingRow = `
  insert into admin (organization_id, id, email, role, created_at)
  values ($1, gen_random_uuid(), 'billing@example.com', 'billing', clock_timestamp()) on conflict do nothing`

/** The statements of the steps, for the service's tables and for the peer's. */
export const steps: Readonly<Record<"service" | "peer", Readonly<Record<Step, string>>>> = {
  service: {
    exhaust: `
      insert into rate_limit (key, hits, admitted)
      select id::text, array_fill((extract(epoch from clock_timestamp()) * 1000)::bigint, array[120]), true
      from api_key where digest = $1
      on conflict (key) do update set hits = excluded.hits`,
    relabel: "update account set role_label = 'Before' where organization_id = $1 and id = $2"
  },
  peer: {
    exhaust: `
      insert into budget (key_id, hits, admitted)
      select id, array_fill((extract(epoch from clock_timestamp()) * 1000)::bigint, array[120]), true
      from api_key where digest = decode($1, 'hex')
      on conflict (key_id) do update set hits = excluded.hits`,
    relabel: "update account set role_label = 'Before' where organization_id = $1 and id = $2"
  }
}

const all = ["org:read", "accounts:write"]

/** Makes them beside the organizations of the fixture. */
export const makeStrangers = async (
  database: Client,
  pepper: string,
  { accounts, id }: Tenant,
  other: Tenant
): Promise<Strangers> => {
  await database.query(closedRows)
  await database.query(billingRow, [id])
  const make = async (
    organization: string,
    role: string,
    { expiresAt = null, revokedAt = null, scopes = all }: {
      readonly scopes?: ReadonlyArray<string>
      readonly expiresAt?: Date | null
      readonly revokedAt?: Date | null
    } = {}
  ) => {
    const { digest, key } = makeKey(pepper)
    await database.query(keyRow, [organization, role, scopes, digest, expiresAt, revokedAt, pepper])
    return { digest, key }
  }
  const exhausted = await make(id, "owner")
  const { rows } = await database.query<{ id: string }>(
    "select id from account where organization_id = $1 and id <> all($2::uuid[]) limit 1",
    [id, accounts]
  )
  return {
    reading: (await make(id, "owner", { scopes: ["org:read"] })).key,
    billing: (await make(id, "billing")).key,
    revoked: (await make(id, "owner", { revokedAt: new Date() })).key,
    expired: (await make(id, "owner", { expiresAt: new Date(0) })).key,
    unknown: makeKey(pepper).key,
    closed: (await make("closed", "owner")).key,
    exhausted: exhausted.key,
    ungranted: rows[0]?.id ?? crypto.randomUUID(),
    foreign: other.accounts[0] ?? crypto.randomUUID(),
    values: { exhaust: [exhausted.digest], relabel: [id, accounts[0]] }
  }
}
