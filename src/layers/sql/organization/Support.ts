import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import type { SupportFacts } from "../../../domain/organization/Support.ts"
import { type Caller, isNarrowing, superadmins } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess } from "../accounts/AccountAccess.ts"

/** The condition that the caller sees a request. */
const visible = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment => {
  const own = sql`support_request.organization_id = ${caller.organizationId} and created_by = ${caller.adminId}`
  if (isNarrowing(caller.limit)) {
    return sql`${own} and (account_id is null or exists (
      select 1 from account
      where account.organization_id = support_request.organization_id and account.id = account_id
        and ${canAccess(sql, caller)}))`
  }
  return superadmins.includes(caller.role) ? sql`support_request.organization_id = ${caller.organizationId}` : own
}

/** Requests to the support in SQL, numbered by a counter of the organization. */
export const layer = Layer.effect(
  Ports.Support,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const columns = sql.literal(
      "id, number, category, subject, message, account_id, related_request_id, state, answer, answered_at, created_by, created_at, updated_at"
    )
    const numbered = (organizationId: string, rest: Statement.Fragment) =>
      sql<SupportFacts>`
        select ${columns} from support_request where organization_id = ${organizationId} ${rest}`.pipe(Effect.orDie)

    return Ports.Support.of({
      list: Effect.fnUntraced(function*(caller, { after, limit }) {
        const mine = visible(sql, caller)
        const [cursor] = after === undefined ? [] : yield* sql<{ readonly number: number }>`
          select number from support_request where ${mine} and id = ${after}`
        if (after !== undefined && cursor === undefined) return null
        return yield* sql<SupportFacts>`
          select ${columns} from support_request
          where ${mine} and ${cursor === undefined ? sql`true` : sql`number < ${cursor.number}`}
          order by number desc limit ${limit + 1}`
      }, Effect.orDie),

      find: (caller, id) =>
        sql<SupportFacts>`
          select ${columns} from support_request where ${visible(sql, caller)} and id = ${id}`.pipe(
          Effect.orDie,
          Sql.one
        ),

      lockMade: Effect.fnUntraced(function*({ adminId, organizationId }, since) {
        yield* post(sql`select 1 from organization where id = ${organizationId} for no key update`)
        const [made] = yield* sql<{ readonly count: number; readonly first: Date | null; readonly email: string }>`
          select email, (
              select count(*)::integer from support_request
              where organization_id = ${organizationId} and created_by = ${adminId} and created_at > ${since}) as count,
            (select min(created_at) from support_request
              where organization_id = ${organizationId} and created_by = ${adminId} and created_at > ${since}) as first
          from admin where organization_id = ${organizationId} and id = ${adminId}`
        return made ?? (yield* Effect.die(new Error("The caller's admin is gone")))
      }, Effect.orDie),

      create: Effect.fnUntraced(function*({ adminId, organizationId }, request, now) {
        const [made] = yield* sql<SupportFacts>`
          with numbered as (
            update organization set support_number = support_number + 1 where id = ${organizationId}
            returning support_number
          )
          insert into support_request (organization_id, id, number, category, subject, message, account_id,
            related_request_id, created_by, created_at, updated_at)
          select ${organizationId}::text, ${yield* random.uuidV7()}::uuid, support_number, ${request.category}::text,
            ${request.subject}::text, ${request.message}::text, ${request.account_id}::uuid,
            ${request.related_request_id}::text, ${adminId}::uuid, ${now}::timestamptz, ${now}::timestamptz
          from numbered returning ${columns}`
        return made ?? (yield* Effect.die(new Error("The request was not made")))
      }, Effect.orDie),

      lockNumbered: (organizationId, number) =>
        Effect.map(numbered(organizationId, sql`and number = ${number} for update`), ([found]) => found ?? null),

      all: (organizationId, limit) => numbered(organizationId, sql`order by number desc limit ${limit}`),

      answer: (organizationId, id, answer, now) =>
        post(sql`
          update support_request set state = 'answered', answer = ${answer}, answered_at = ${now}, updated_at = ${now}
          where organization_id = ${organizationId} and id = ${id}`),

      close: (organizationId, id, now) =>
        post(sql`
          update support_request set state = 'closed', updated_at = ${now}
          where organization_id = ${organizationId} and id = ${id}`)
    })
  })
)
