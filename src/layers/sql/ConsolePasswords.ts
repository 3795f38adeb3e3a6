import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import type { OrganizationId } from "../../domain/Access.ts"
import { PasswordIncorrect, TooManyAttempts } from "../../domain/Failure.ts"
import {
  freePasswordFailures,
  maxPasswordLength,
  maxPasswordWait,
  passwordFailuresForgotten
} from "../../domain/Limits.ts"
import type { Attempt } from "../../operations/ConsolePasswords.ts"
import { ConsolePasswords } from "../../operations/ConsolePasswords.ts"
import { Journal } from "../../operations/Ports.ts"
import { PasswordHasher } from "../crypto/PasswordHasher.ts"
import * as Tenant from "./Tenant.ts"

interface AdminRow {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly email: string
  readonly password_hash: string | null
}

/** Names an admin in the throttle, known or not, without holding what was typed. */
const adminKey = (organization: string, email: string): string =>
  `admin:${crypto.createHash("sha256").update(JSON.stringify([organization, email.toLowerCase()])).digest("hex")}`

/** Counts attempts for a key before they are looked at; the failure that follows is already in the count. */
const count = (sql: SqlClient.SqlClient, key: string) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const forgotten = now - Duration.toMillis(passwordFailuresForgotten)
    const longest = Duration.toSeconds(maxPasswordWait)
    const [row] = yield* Tenant.directory(sql)(
      sql<{ failures: number; blocked_until: number; admitted: boolean }>`
        insert into password_throttle as throttle (key, failures, last_at, blocked_until, admitted)
        values (${key}, 1, ${now}, 0, true)
        on conflict (key) do update set (failures, last_at, blocked_until, admitted) = (
          select
            case when free then next else throttle.failures end,
            case when free then ${now}::bigint else throttle.last_at end,
            case when not free then throttle.blocked_until
              when next <= ${freePasswordFailures} then 0
              else ${now}::bigint + 1000 * least(${longest}, power(2, least(next - ${freePasswordFailures}, 30)))::bigint
            end,
            free
          from (select throttle.blocked_until <= ${now} as free,
            case when throttle.last_at <= ${forgotten} then 1 else throttle.failures + 1 end as next) as counted)
        returning failures, blocked_until, admitted`
    )
    if (row === undefined) return yield* Effect.die(new Error("The password throttle's upsert returned no row"))
    if (!row.admitted) {
      const seconds = Math.max(1, Math.ceil((row.blocked_until - now) / 1000))
      return yield* new TooManyAttempts({
        retry_after: seconds,
        message: `Too many wrong passwords: wait ${seconds} s.`
      })
    }
    return row.failures
  })

/** Passwords in the database, with the throttle that sign-in, consent and key creation share. */
export const layer = Layer.effect(
  ConsolePasswords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const hasher = yield* PasswordHasher
    const journal = yield* Journal
    // A password of nobody: an unknown address takes as long as a wrong password.
    const dummy = yield* Effect.cached(hasher.hash(Redacted.make(crypto.randomBytes(16).toString("base64"))))

    const burst = (admin: AdminRow, failures: number, attempt: Attempt) =>
      Tenant.transaction(sql, admin.organization_id)(
        journal.append(admin.organization_id, {
          action: "console_password.failed",
          outcome: "refused",
          actor: { type: "external", admin_id: null, name: null },
          credential: null,
          via: attempt.via,
          account_id: null,
          target: { type: "admin", id: admin.id },
          details: { failures },
          ip: attempt.ip,
          request_id: attempt.requestId,
          closes: null
        })
      )

    const check = Effect.fnUntraced(function*(
      key: string,
      admin: AdminRow | undefined,
      password: Redacted.Redacted,
      attempt: Attempt
    ) {
      const keys = [...(attempt.ip === null ? [] : [`address:${attempt.ip}`]), key]
      let failures = 0
      for (const each of keys) failures = yield* count(sql, each)
      const hash = admin?.password_hash ?? (yield* dummy)
      const fits = [...Redacted.value(password)].length <= maxPasswordLength
      const right = fits && (yield* hasher.verify(hash, password))
      if (!right || admin === undefined || admin.password_hash === null) {
        if (admin !== undefined && failures === freePasswordFailures + 1) yield* burst(admin, failures, attempt)
        return yield* new PasswordIncorrect({})
      }
      yield* Tenant.directory(sql)(sql`delete from password_throttle where ${sql.in("key", keys)}`)
      if (!hasher.isCurrent(admin.password_hash)) {
        const renewed = yield* hasher.hash(password)
        yield* Tenant.transaction(sql, admin.organization_id)(sql`
          update admin set password_hash = ${renewed}
          where organization_id = ${admin.organization_id} and id = ${admin.id}
            and password_hash = ${admin.password_hash}`)
      }
      return { organizationId: admin.organization_id, adminId: admin.id }
    })

    return ConsolePasswords.of({
      verify: Effect.fnUntraced(function*({ adminId, organizationId }, password, attempt) {
        const [admin] = yield* Tenant.transaction(sql, organizationId)(sql<AdminRow>`
          select organization_id, id, email, password_hash from admin
          where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null`)
        if (admin === undefined) return yield* new PasswordIncorrect({})
        yield* check(adminKey(organizationId, admin.email), admin, password, attempt)
      }),
      identify: Effect.fnUntraced(function*(organization, email, password, attempt) {
        // PostgreSQL has no text with a NUL in it, and so no admin of such a name.
        const [admin] = `${organization}${email}`.includes("\u0000") ? [] : yield* Tenant.directory(sql)(sql<AdminRow>`
          select organization_id, id, email, password_hash from admin
          where organization_id = ${organization} and lower(email collate "C") = ${email.toLowerCase()}
            and disabled_at is null and joined_at is not null`)
        return yield* check(adminKey(organization, email), admin, password, attempt)
      })
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
