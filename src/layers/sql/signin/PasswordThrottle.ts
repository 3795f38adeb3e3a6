/**
 * The counters of console passwords: each attempt is counted before it is checked, and has to wait past the free ones.
 */
import { Clock, Duration, Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { TooManyAttempts } from "../../../domain/Failure.ts"
import { maxPasswordWait, passwordFailuresForgotten, signInsAtOnce, signInsWaiting } from "../../../domain/Limits.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** One counter: what it is kept under, and how many failures are free. */
export interface Counter {
  readonly key: string
  readonly free: number
}

/** Counts one attempt; fails where the counter's wait is not over, and then counts nothing. */
const count = (sql: SqlClient.SqlClient, { free, key }: Counter) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const forgotten = now - Duration.toMillis(passwordFailuresForgotten)
    const longest = Duration.toSeconds(maxPasswordWait)
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
    if (!row.admitted) {
      const seconds = Math.max(1, Math.ceil((row.blocked_until - now) / 1000))
      return yield* new TooManyAttempts({
        retry_after: seconds,
        message: `Too many wrong passwords: wait ${seconds} s.`
      })
    }
  })

/** Takes an attempt back that was no failure; who waits only because of it waits no more. */
export const takeBack = (sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter>) =>
  Effect.forEach(counters, ({ free, key }) =>
    Tenant.directory(sql)(sql`
      update password_throttle set failures = greatest(failures - 1, 0),
        blocked_until = case when failures - 1 <= ${free} then 0 else blocked_until end
      where key = ${key}`), { discard: true })

/** Counts an attempt in every counter, or in none of them. */
export const countAll = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter>) {
    for (const [index, counter] of counters.entries()) {
      yield* Effect.tapError(count(sql, counter), () => takeBack(sql, counters.slice(0, index)))
    }
  }
)

/** Starts a counter again. */
export const clear = (sql: SqlClient.SqlClient, { key }: Counter) =>
  Tenant.directory(sql)(sql`delete from password_throttle where key = ${key}`)

/**
 * Lets few attempts of one key run at once in this process, the others in turn: what is under way counts as failed
 * until it is known, so that people who sign in together from one address would make each other wait.
 */
export const makeTurns = () => {
  const queues = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooManyAttempts, R> =>
    Effect.suspend((): Effect.Effect<A, E | TooManyAttempts, R> => {
      const queue = queues.get(key) ?? { semaphore: Semaphore.makeUnsafe(signInsAtOnce), users: 0 }
      if (queue.users >= signInsAtOnce + signInsWaiting) {
        return Effect.fail(
          new TooManyAttempts({ retry_after: 1, message: "Too many attempts at once from one address: wait 1 s." })
        )
      }
      queues.set(key, queue)
      queue.users += 1
      return Effect.ensuring(
        queue.semaphore.withPermit(effect),
        Effect.sync(() => {
          queue.users -= 1
          if (queue.users === 0) queues.delete(key)
        })
      )
    })
}

/** Forgets the attempts that count no more. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(
    sql`delete from password_throttle where last_at <= ${now - Duration.toMillis(passwordFailuresForgotten)}`
  )
})
