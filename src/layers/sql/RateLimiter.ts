import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { requestsPerMinute } from "../../domain/Limits.ts"
import * as Ports from "../../ports/index.ts"
import { state, windowMillis } from "../RateWindow.ts"
import * as Tenant from "./Tenant.ts"

/** Counts a hit of the key in its sliding minute, unless `most` are in it: one statement, for any number of processes. */
export const hit = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, key: string, most: number) {
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* Tenant.directory(sql)(sql<{ admitted: boolean; hits: ReadonlyArray<number> }>`
    insert into rate_limit (key, hits, admitted) values (${key}, array[${now}::bigint], true)
    on conflict (key) do update set (hits, admitted) = (
      select case when cardinality(live) < ${most} then live || ${now}::bigint else live end,
        cardinality(live) < ${most}
      from (select array(
        select hit from unnest(rate_limit.hits) as hit where hit > ${now - windowMillis} order by hit
      ) as live) as log)
    returning admitted, hits`)
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
        ({ admitted, hits, now }) => state(admitted, hits.length, hits[0] ?? null, now)
      )
  }))
)

/** Forgets the keys that were not used for an hour. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(
    sql`delete from rate_limit where hits[cardinality(hits)] < ${now - Duration.toMillis(Duration.hours(1))}`
  )
})
