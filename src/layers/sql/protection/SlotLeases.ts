/** The leases of slots, whose rows are those of `effect/cluster`. */
import { Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Tenant from "../../postgres/Tenant.ts"

const read =
  `select shard_id, acquired_at::text as at from cluster_locks where address = $1 and shard_id = any($2::text[])`

const renew = `
  with heartbeat as (
    update cluster_runners set last_heartbeat = clock_timestamp() at time zone 'UTC' where address = $1
  ), renewed as (
    select shard_id from cluster_locks where address = $1 and shard_id = any($2::text[])
    order by shard_id collate "C" for update
  )
  update cluster_locks set acquired_at = clock_timestamp() at time zone 'UTC' from renewed
  where cluster_locks.shard_id = renewed.shard_id and address = $1
  returning cluster_locks.shard_id`

const giveBack = `
  with given as (
    select cluster_locks.shard_id from cluster_locks join unnest($2::text[], $3::timestamp[]) as row (shard_id, at)
      on row.shard_id = cluster_locks.shard_id and row.at = acquired_at
    where address = $1 order by cluster_locks.shard_id collate "C" for update of cluster_locks
  )
  delete from cluster_locks using given where cluster_locks.shard_id = given.shard_id and address = $1
  returning cluster_locks.shard_id`

const alive = `
  select runner, healthy,
    (extract(epoch from clock_timestamp() at time zone 'UTC' - last_heartbeat) * 1000)::float8 as "silentFor"
  from cluster_runners where last_heartbeat > clock_timestamp() at time zone 'UTC' - $1 * interval '1 millisecond'`

/** A process whose slots have not run out. */
export interface AliveRow {
  /** The process, as the library writes it. */
  readonly runner: string
  readonly healthy: boolean
  /** The time since its last renewal in ms. */
  readonly silentFor: number
}

export const make = (sql: SqlClient.SqlClient, lease: Duration.Duration) => ({
  alive: Tenant.ask<AliveRow>(sql, alive, [Duration.toMillis(lease)]),

  /** Renews those of these rows that are the owner's, and returns them. */
  renew: (owner: string, shards: ReadonlyArray<string>) =>
    Effect.map(
      Tenant.ask<{ shard_id: string }>(sql, renew, [owner, shards]),
      (rows) => rows.map(({ shard_id }) => shard_id)
    ),

  /** Deletes the owner's rows as they are at the call, none that it gets meanwhile, and returns their number. */
  giveBack: Effect.fnUntraced(function*(owner: string, shards: ReadonlyArray<string>) {
    const rows = yield* Tenant.ask<{ shard_id: string; at: string }>(sql, read, [owner, shards])
    const given = yield* Tenant.ask(sql, giveBack, [
      owner,
      rows.map(({ shard_id }) => shard_id),
      rows.map(({ at }) => at)
    ])
    return given.length
  })
})
