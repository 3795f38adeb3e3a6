import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { maxPasswordWait, passwordFailuresForgotten } from "../../../domain/Limits.ts"
import { AttemptCounters } from "../../../ports/signin/AttemptCounters.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const longest = Duration.toSeconds(maxPasswordWait)

/** Counters in SQL: past the free failures each further one doubles the wait. */
export const layer = Layer.effect(
  AttemptCounters,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return AttemptCounters.of({
      count: Effect.fnUntraced(function*({ free, key }) {
        const now = yield* Clock.currentTimeMillis
        const forgotten = now - Duration.toMillis(passwordFailuresForgotten)
        const [row] = yield* Tenant.directory(sql)(
          sql<{ blocked_until: number; admitted: boolean }>`
            insert into password_throttle as throttle (key, failures, last_at, blocked_until, admitted)
            values (${key}, 1, ${now}, 0, true)
            on conflict (key) do update set (failures, last_at, blocked_until, admitted) = (
              select
                case when open then next else throttle.failures end,
                case when open then ${now}::bigint else throttle.last_at end,
                case when not open then throttle.blocked_until
                  when next <= ${free} then 0
                  else ${now}::bigint + 1000 * least(${longest}, power(2, least(next - ${free}, 30)))::bigint
                end,
                open
              from (select throttle.blocked_until <= ${now} as open,
                case when throttle.last_at <= ${forgotten} then 1 else throttle.failures + 1 end as next) as counted)
            returning blocked_until, admitted`
        )
        if (row === undefined) return yield* Effect.die(new Error("The password throttle's upsert returned no row"))
        return row.admitted ? null : Math.max(1, Math.ceil((row.blocked_until - now) / 1000))
      }),

      takeBack: ({ free, key }) =>
        Effect.asVoid(
          Tenant.directory(sql)(sql`
          update password_throttle set failures = greatest(failures - 1, 0),
            blocked_until = case when failures - 1 <= ${free} then 0 else blocked_until end
          where key = ${key}`)
        ),

      clear: ({ key }) => Effect.asVoid(Tenant.directory(sql)(sql`delete from password_throttle where key = ${key}`))
    })
  })
)

/** Forgets the attempts that count no more. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(
    sql`delete from password_throttle where last_at <= ${now - Duration.toMillis(passwordFailuresForgotten)}`
  )
})
