import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { JournalDetails } from "../../../domain/journal/JournalEvent.ts"
import { pendingSignInAnswers, pendingSignInLifetime } from "../../../domain/Limits.ts"
import { before, now } from "../../../domain/Moments.ts"
import type { WaitingSignIn } from "../../../domain/signin/PendingSignIns.ts"
import { PendingSignInRecords } from "../../../ports/signin/PendingSignInRecords.ts"
import type { PendingSignIn } from "../../../ports/signin/SignIns.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** Sign-ins in SQL that wait for their second factor. */
export const layer = Layer.effect(
  PendingSignInRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom

    /** The condition that the admin may still complete a sign-in, however many answers were given. */
    const lasts = (at: Date) =>
      sql`pending.created_at > ${before(at, pendingSignInLifetime)} and admin.disabled_at is null
        and (password_changed_at is null or password_changed_at <= pending.created_at)`
    const open = (at: Date) => sql`${lasts(at)} and pending.failures < ${pendingSignInAnswers}`

    return PendingSignInRecords.of({
      find: Effect.fnUntraced(function*(digest, organizationId) {
        const at = yield* now
        return yield* Sql.one(
          Tenant.directory(sql)(sql<Omit<PendingSignIn, "hasFactor">>`
          select pending.id, pending.organization_id as "organizationId", organization.name as "organizationName",
            pending.admin_id as "adminId", coalesce(admin.name, admin.email) as "adminName", admin.email
          from pending_sign_in pending
          join admin on admin.organization_id = pending.organization_id and admin.id = pending.admin_id
          join organization on organization.id = admin.organization_id
          where pending.digest = ${digest} and ${open(at)}
            ${organizationId === null ? sql`` : sql`and pending.organization_id = ${organizationId}`}`)
        )
      }),

      add: Effect.fnUntraced(function*({ adminId, organizationId }, { address, browser, details, digest, since }) {
        yield* sql`insert into pending_sign_in ${
          sql.insert({
            organization_id: organizationId,
            id: yield* random.uuidV7(),
            admin_id: adminId,
            digest,
            created_at: since,
            details: JSON.stringify(details),
            address,
            browser
          })
        }`
      }, Effect.orDie),

      list: ({ adminId, organizationId }) =>
        sql<WaitingSignIn>`
          select id, address, browser from pending_sign_in
          where organization_id = ${organizationId} and admin_id = ${adminId} order by id desc`.pipe(Effect.orDie),

      countAnswer: Effect.fnUntraced(function*({ id, organizationId }) {
        const at = yield* now
        const [counted] = yield* sql<{ failures: number }>`
          update pending_sign_in pending set failures = failures + 1
          from admin
          where pending.organization_id = ${organizationId} and pending.id = ${id}
            and admin.organization_id = pending.organization_id and admin.id = pending.admin_id and ${open(at)}
          returning failures`
        return counted?.failures ?? null
      }, Effect.orDie),

      lock: ({ id, organizationId }, at) =>
        sql<{ since: Date; details: JournalDetails }>`
          select pending.created_at as since, pending.details from pending_sign_in pending
          join admin on admin.organization_id = pending.organization_id and admin.id = pending.admin_id
          where pending.organization_id = ${organizationId} and pending.id = ${id} and ${lasts(at)}
          for update of pending for no key update of admin`.pipe(Effect.orDie, Sql.one),

      complete: ({ id, organizationId }) =>
        Tenant.post(sql)(sql`delete from pending_sign_in where organization_id = ${organizationId} and id = ${id}`),

      displace: (organizationId, ids) =>
        sql`delete from pending_sign_in where organization_id = ${organizationId} and ${sql.in("id", ids)}`.pipe(
          Effect.orDie,
          Effect.asVoid
        )
    })
  })
)

/** Deletes the sign-ins that were not completed in time. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const ended = before(yield* now, pendingSignInLifetime)
  yield* Tenant.directory(sql)(sql`delete from pending_sign_in where created_at <= ${ended}`)
})
