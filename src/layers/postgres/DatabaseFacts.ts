/** Facts about the database itself. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { leaseTime, slotCount } from "../../domain/accounts/Slot.ts"
import { before } from "../../domain/Moments.ts"
import { pollFault } from "../../domain/protection/PollFacts.ts"
import { intentTime } from "../sql/journal/JournalAppends.ts"
import { unsignedJournals } from "../sql/journal/Unsigned.ts"
import * as Polls from "../sql/protection/Polls.ts"
import * as Migrate from "./Migrate.ts"
import { migrations } from "./migrations.ts"
import { ownsTables } from "./Roles.ts"
import * as Tenant from "./Tenant.ts"

interface Facts {
  readonly version: string
  readonly name: string
  readonly role: string
  readonly owns_tables: boolean
  readonly size_bytes: number
}

const server = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Facts>`
    select split_part(current_setting('server_version'), ' ', 1) as version, current_database()::text as name,
      session_user::text as role, pg_database_size(current_database()) as size_bytes,
      ${ownsTables(sql)} as owns_tables`
  return row ?? (yield* Effect.die(new Error("The database does not say what it is")))
})

const usedPeppers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string }>`
    select distinct pepper_id as id from (
      select pepper_id from api_key union all select pepper_id from oauth_token
      union all select pepper_id from oauth_code union all select pepper_id from oauth_client) as used
    where pepper_id is not null order by id`
  return rows.map(({ id }) => id)
})

const lastCheckpoint = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ organization: string; sequence: number; at: Date }>`
    select organization_id as organization, sequence, at from journal_checkpoint order by at desc limit 1`
  return row ?? null
})

/** The state of the watch over all accounts. */
const watch = Effect.gen(function*() {
  const now = new Date(yield* Clock.currentTimeMillis)
  const { known_at, tried_at, ...facts } = yield* Polls.facts
  const fault = pollFault({ known_at, tried_at, ...facts }, now)
  return { last_poll_at: tried_at, last_good_at: known_at, fault }
})

interface WorkerRow {
  readonly address: string
  readonly slots: number
  /** The time since which it has all of them; null where it has none. */
  readonly since: Date | null
  readonly renewed_at: Date
}

/** The workers that have renewed their leases in time, and the number of slots that are nobody's; null where none ever did. */
const workers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<WorkerRow>`
    select address, count(shard_id)::int as slots, max(held_since) at time zone 'UTC' as since,
      max(renewed) at time zone 'UTC' as renewed_at from (
      select address, null as shard_id, null::timestamp as held_since, last_heartbeat as renewed from cluster_runners
      union all select address, shard_id, held_since, acquired_at from cluster_locks
    ) as rows group by address
    having max(renewed) > clock_timestamp() at time zone 'UTC' - ${
    Duration.toSeconds(leaseTime)
  } * interval '1 second' order by address`
  if (rows.length === 0) return null
  return {
    living: rows.map((row) => ({ ...row, address: shownAddress(row.address) })),
    free_slots: slotCount - rows.reduce((sum, { slots }) => sum + slots, 0)
  }
})

/** The address without the process's name, as people know it; a worker without one is reached by nobody. */
const shownAddress = (address: string): string =>
  address.replace(/^(.*)\/([^/:]+)(:\d+)$/, (_, host, name, port) => host === "" ? name : `${host}${port}`)

/** The way the database is run, its schema's version, and what it was used with. */
export const facts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const facts = yield* Tenant.directory(sql)(Effect.gen(function*() {
    const found = { ...(yield* server), schema: yield* Migrate.state(migrations) }
    if (found.schema.applied === null) {
      return { ...found, organizations: 0, peppers_used: [], last_checkpoint: null, watch: null, workers: null }
    }
    const [count] = yield* sql<{ count: number }>`select count(*) as count from organization`
    return {
      ...found,
      organizations: count?.count ?? 0,
      peppers_used: yield* usedPeppers,
      last_checkpoint: yield* lastCheckpoint,
      watch: found.schema.applied === found.schema.known ? yield* watch : null,
      workers: found.schema.applied === found.schema.known ? yield* workers : null
    }
  }))
  const { applied, known } = facts.schema
  return { ...facts, unsigned_journals: applied === known ? yield* unsignedJournals : [] }
})

/**
 * The organizations, and whether they are simulated, whatever the version of the schema; null where a first start was
 * cut short before there were tables.
 */
export const organizations = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`select 1 where to_regclass('organization') is not null`
  if (found === undefined) return null
  return yield* Tenant.directory(sql)(sql<{ readonly id: string; readonly simulated: boolean }>`
    select id, simulated from organization order by id`)
})

/** The changes that the journal has begun and not closed, in all organizations: how many, and when the oldest began. */
export const openIntents = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Tenant.directory(sql)(sql<{ readonly open: number; readonly first: Date | null }>`
    select count(*) as open, min(deadline) as first from pending_change`)
  const first = row?.first ?? null
  return {
    open: row?.open ?? 0,
    begun: first === null ? null : before(first, intentTime)
  }
})

/** So much later than it was due, a sign-out is overdue. */
const overdue = Duration.minutes(2)

/** The states of the watch over an account: `unwatched` are the paused, the stopped and the offboarded ones. */
export const watchStates = ["watched", "failing", "waiting", "unwatched"] as const

/**
 * The accounts of all organizations by how their watch goes, how many polls are due, and how many sign-outs are
 * overdue.
 */
export const watched = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const at = new Date(now)
  const late = new Date(now - Duration.toMillis(overdue))
  const states = yield* Tenant.directoryAlone(sql)(sql<
    {
      readonly state: typeof watchStates[number]
      readonly accounts: number
      readonly due: number
      readonly missed: number
    }
  >`
    select case when next_at is null then 'unwatched' when flood_until > ${at} then 'waiting'
      when failures > 0 then 'failing' else 'watched' end as state, count(*) as accounts,
      count(*) filter (where next_at <= ${at}) as due,
      count(*) filter (where due_at <= ${late} and (sign_out_retry_at is null or sign_out_retry_at <= ${late})) as missed
    from monitor group by 1`)
  const of = (wanted: string) => states.find(({ state }) => state === wanted)
  return {
    states,
    due: (of("watched")?.due ?? 0) + (of("failing")?.due ?? 0),
    overdue: of("watched")?.missed ?? 0
  }
})
