import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TooManyAttempts } from "../../../domain/Failure.ts"
import { Db } from "../../../ports/Db.ts"
import { type AttemptKind, Attempts } from "../../../ports/security/AccountAttempts.ts"
import type { SecretsOf } from "../../../ports/security/Secrets.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const period = Duration.toMillis(Duration.hours(1))

const messages: { readonly [Kind in AttemptKind]: string } = {
  email_change: "Too many changes of this account's addresses: wait.",
  holder_password: "Too many wrong 2FA passwords for this account: wait."
}

/** The attempts of the last hour, by account. */
export const layer = Layer.effect(
  Attempts,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db
    const row = ({ accountId, organizationId }: SecretsOf, what: AttemptKind) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId} and what = ${what}`

    return Attempts.of({
      count: Effect.fnUntraced(function*(of, what, limit) {
        const now = yield* Clock.currentTimeMillis
        const since = new Date(now - period)
        const refused = yield* db.transaction(
          of.organizationId,
          Effect.gen(function*() {
            const counted = yield* sql`
              insert into account_attempt as kept (organization_id, account_id, what, times, last_at)
              values (${of.organizationId}, ${of.accountId}, ${what}, array[${new Date(now)}::timestamptz(3)],
                ${new Date(now)})
              on conflict (organization_id, account_id, what) do update set
                times = array(select at from unnest(kept.times) as at where at > ${since}) || excluded.times,
                last_at = excluded.last_at
              where (select count(*) from unnest(kept.times) as at where at > ${since}) < ${limit}
              returning what`
            if (counted.length > 0) return null
            const [oldest] = yield* sql<{ at: Date }>`
              select min(at) as at from account_attempt, unnest(times) as at
              where ${row(of, what)} and at > ${since}`
            return oldest?.at ?? new Date(now)
          }).pipe(Effect.orDie)
        )
        if (refused === null) return
        const retry_after = Math.max(1, Math.ceil((refused.getTime() + period - now) / 1000))
        return yield* new TooManyAttempts({ retry_after, message: messages[what] })
      }),

      takeBack: (of, what) =>
        db.transaction(
          of.organizationId,
          Effect.asVoid(Effect.orDie(sql`
            update account_attempt set times = times[1:cardinality(times) - 1] where ${row(of, what)}`))
        )
    })
  })
)

/** Forgets the attempts that count no more. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(sql`delete from account_attempt where last_at <= ${new Date(now - period)}`)
})
