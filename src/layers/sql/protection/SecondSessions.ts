import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { AccountLock } from "../../../ports/accounts/AccountLock.ts"
import { Identities } from "../../../ports/accounts/Identities.ts"
import { type RetiredSession, type SecondSession, ServiceSessions } from "../../../ports/protection/ServiceSessions.ts"
import type { SecretsOf } from "../../../ports/security/Secrets.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { add, retire } from "./ServiceSessions.ts"

/** The second sessions in SQL. */
export const layer = Layer.effect(
  ServiceSessions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const guard = yield* AccountLock
    const identities = yield* Identities
    const random = yield* SecureRandom.SecureRandom
    const ofAccount = ({ accountId, organizationId }: SecretsOf) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const state = ({ accountId, organizationId }: SecretsOf, to: "none" | "active", now: Date) =>
      post(sql`
        update account set paired_state = ${to}, paired_since = ${to === "none" ? null : now}, paired_error = null
        where organization_id = ${organizationId} and id = ${accountId}`)

    const abandon = (of: SecretsOf, now: Date) => retire(sql, of, sql`slot = 'pairing'`, { due: now, now })

    return ServiceSessions.of({
      newRef: Effect.map(random.uuidV7(), (id) => SessionRef.make(`paired-${id}`)),

      second: (of) =>
        Effect.orDie(sql<SecondSession>`
          select id, slot, session_ref, seen_as, created_at from service_session
          where ${ofAccount(of)} and slot in ('paired', 'pairing') order by slot`),

      begin: Effect.fnUntraced(
        function*(of, ref, now) {
          yield* abandon(of, now)
          yield* add(sql, of, "pairing", ref, now)
        },
        Effect.orDie
      ),

      paired: Effect.fnUntraced(
        function*(of, ref, { createdAt, seenAs }, now) {
          yield* retire(sql, of, sql`slot = 'paired'`, { due: now, now })
          yield* post(sql`
            update service_session set slot = 'paired', seen_as = ${seenAs}, created_at = ${createdAt}
            where ${ofAccount(of)} and session_ref = ${ref}`)
          yield* state(of, "active", now)
          yield* guard.look(of.organizationId, of.accountId, now)
        },
        Effect.orDie
      ),

      drop: (of, ref) =>
        post(sql`
          delete from service_session where ${ofAccount(of)} and session_ref = ${ref} and slot = 'pairing'`),

      abandon: (of, now) => Effect.orDie(abandon(of, now)),

      leave: Effect.fnUntraced(
        function*(of, at) {
          const { accountId, organizationId } = of
          yield* identities.release(organizationId, accountId)
          yield* retire(sql, of, sql`true`, at)
          yield* state(of, "none", at.now)
          yield* post(sql`delete from email_change where ${ofAccount(of)}`)
          yield* post(sql`delete from account_task where ${ofAccount(of)} and kind <> 'log_out'`)
        },
        Effect.orDie
      ),

      retired: (of) =>
        Effect.orDie(sql<RetiredSession>`
          select id, session_ref, erase_at, log_out_intent from service_session
          where ${ofAccount(of)} and slot = 'retired' order by created_at desc, id`),

      trying: (of, id, intent) =>
        post(sql`
          update service_session set log_out_intent = ${intent} where ${ofAccount(of)} and id = ${id}`),

      forget: (of, ids) =>
        post(sql`
          delete from service_session where ${ofAccount(of)} and slot = 'retired' and id = any(${ids}::uuid[])`),

      remove: Effect.fnUntraced(
        function*(of, now) {
          yield* post(sql`delete from service_session where ${ofAccount(of)} and slot = 'paired'`)
          yield* state(of, "none", now)
          yield* guard.look(of.organizationId, of.accountId, now)
        },
        Effect.orDie
      )
    })
  })
)
