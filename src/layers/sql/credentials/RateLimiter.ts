import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { requestsPerMinute } from "../../../domain/Limits.ts"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { state, windowMillis } from "../../RateWindow.ts"

/** The result of counting a hit. */
export interface CountedHit {
  readonly admitted: boolean
  /** The number of hits in the window, and the time of the oldest of them, in milliseconds. */
  readonly used: number
  readonly oldest: number
}

/**
 * The statement that counts a hit at a time in milliseconds in the sliding minute of each key of `rows`, unless `most`
 * are in it, for any number of processes. Hits are kept in the order of their times, which is not that of replicas.
 */
export const counting = (rows: string, at: string, most: number): string => `
    insert into rate_limit as log (key, hits, admitted) ${rows}
    on conflict (key) do update set (hits, admitted) = (
      select
        case when cardinality(live) < ${most} then live[: earlier] || ${at} || live[earlier + 1 :] else live end,
        cardinality(live) < ${most}
      from (select log.hits[width_bucket(${at} - ${windowMillis}, log.hits) + 1 :] as live) as log
      cross join lateral (select width_bucket(${at}, live) as earlier) as place)`

/** The columns that describe a hit. */
export const hitColumns = "admitted, cardinality(hits) as used, hits[1] as oldest"

/** Counts a hit of the key in its sliding minute, unless `most` are in it. */
export const hit = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, key: string, most: number) {
  const now = yield* Clock.currentTimeMillis
  const text = `${counting("values ($1, array[$2::bigint], true)", "$2::bigint", most)} returning ${hitColumns}`
  const [row] = yield* Tenant.ask<CountedHit>(sql, text, [key, now])
  return row === undefined
    ? yield* Effect.die(new Error("The rate limiter's upsert returned no row"))
    : { ...row, now }
})

/** The sliding log in the database, committed before the operation runs. */
export const layer = Layer.effect(
  Ports.RateLimiter,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    consume: (key) =>
      Effect.flatMap(
        hit(sql, key, requestsPerMinute),
        ({ admitted, now, oldest, used }) => state(admitted, used, oldest, now)
      )
  }))
)

/** Forgets the keys that were not used for an hour, without waiting for those who use one meanwhile. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(
    sql`delete from rate_limit where key in (
      select key from rate_limit where hits[cardinality(hits)] < ${now - Duration.toMillis(Duration.hours(1))}
      for update skip locked)`
  )
})
