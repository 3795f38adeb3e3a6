import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { consoleSessionIdle, consoleSessionLifetime } from "../../../domain/Limits.ts"
import { before, now } from "../../../domain/Moments.ts"
import { readsArchive } from "../../../domain/people/Access.ts"
import { ConsoleSessionRecords } from "../../../ports/signin/ConsoleSessionRecords.ts"
import type { ListedSession, SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const sessionsListed = 50

interface Row extends Omit<SignedIn, "readsArchive"> {
  readonly archive_access: boolean
}

/** Sessions in SQL; each use is written, so that idleness is exact. */
export const layer = Layer.effect(
  ConsoleSessionRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom

    /** The condition that a session has ended neither by itself nor with its admin. */
    const live = (at: Date) =>
      sql`session.last_used_at > ${before(at, consoleSessionIdle)}
        and session.created_at > ${before(at, consoleSessionLifetime)}
        and disabled_at is null and (password_changed_at is null or password_changed_at <= session.created_at)`

    return ConsoleSessionRecords.of({
      find: Effect.fnUntraced(function*(digest, organizationId, use) {
        const at = yield* now
        const row = yield* Sql.one(
          Tenant.directory(sql)(sql<Row>`
          update console_session session
          set last_used_at = ${use ? sql`${at}` : sql`session.last_used_at`}
          from admin join organization on organization.id = admin.organization_id
          where session.digest = ${digest}
            and admin.organization_id = session.organization_id and admin.id = session.admin_id and ${live(at)}
            ${organizationId === null ? sql`` : sql`and session.organization_id = ${organizationId}`}
          returning session.id as "sessionId", session.organization_id as "organizationId",
            organization.name as "organizationName", organization.closed_at is not null as "organizationClosed",
            admin.id as "adminId", coalesce(admin.name, admin.email) as "adminName", admin.email, admin.role,
            admin.archive_access`)
        )
        if (row === null) return null
        const { archive_access, ...found } = row
        return { ...found, readsArchive: readsArchive(found.role, archive_access) }
      }),

      endBefore: (digest) =>
        Effect.asVoid(Tenant.directory(sql)(sql`delete from console_session where digest = ${digest}`)),

      add: Effect.fnUntraced(function*({ adminId, organizationId }, session) {
        const id = yield* random.uuidV7()
        yield* post(sql`insert into console_session ${
          sql.insert({
            organization_id: organizationId,
            id,
            admin_id: adminId,
            digest: session.digest,
            created_at: session.since,
            last_used_at: session.now,
            address: session.address,
            browser: session.browser,
            factor: session.factor,
            factor_at: session.factor === null ? null : session.now,
            long_known: session.longKnown
          })
        }`)
        return id
      }),

      end: ({ adminId, organizationId }, id, kept) =>
        sql`
          delete from console_session
          where organization_id = ${organizationId} and admin_id = ${adminId} and id = ${id}::uuid
            and id is distinct from ${kept}::uuid
          returning id`.pipe(Effect.orDie, Effect.map((ended) => ended.length)),

      list: Effect.fnUntraced(function*({ adminId, organizationId, sessionId }) {
        const at = yield* now
        return yield* sql<ListedSession>`
          select session.id, session.id = ${sessionId} as current, session.created_at as "createdAt",
            last_used_at as "lastUsedAt", address, browser
          from console_session session
          join admin on admin.organization_id = session.organization_id and admin.id = admin_id
          where session.organization_id = ${organizationId} and admin_id = ${adminId} and ${live(at)}
          order by last_used_at desc, session.id desc limit ${sessionsListed}`
      }, Effect.orDie),

      renew: ({ adminId, organizationId, sessionId }, digest, at) =>
        sql`
          update console_session set digest = ${digest}, created_at = ${at}, last_used_at = ${at}
          where organization_id = ${organizationId} and admin_id = ${adminId} and id = ${sessionId}`.pipe(
          Effect.orDie,
          Effect.asVoid
        ),

      setFactor: ({ organizationId, sessionId }, factor, at) =>
        post(sql`
          update console_session set factor = ${factor}, factor_at = ${at}
          where organization_id = ${organizationId} and id = ${sessionId}`),

      isLongKnown: ({ adminId, organizationId }, id) =>
        sql<{ known: boolean }>`
          select long_known as known from console_session
          where organization_id = ${organizationId} and admin_id = ${adminId} and id::text = ${id}`.pipe(
          Effect.orDie,
          Effect.map(([session]) => session?.known === true)
        )
    })
  })
)

/** Deletes the sessions that have ended by themselves. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* Tenant.directory(sql)(sql`
    delete from console_session
    where last_used_at <= ${before(at, consoleSessionIdle)} or created_at <= ${before(at, consoleSessionLifetime)}`)
})
