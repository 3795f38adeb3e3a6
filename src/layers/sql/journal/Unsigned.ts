/** Events that no checkpoint covers although they should have been signed by now. */
import { Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { before, now } from "../../../domain/Moments.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The longest that an event may wait for its signature: two periods. */
const signingGrace = Duration.minutes(2)

/** Journals that are checked, and named, at most. */
const most = 200

/** An event that is late for its signature. */
export interface LateEvent {
  readonly sequence: number
  readonly at: Date
}

/** The first event that should have been signed by now and was not; within the organization's transaction. */
export const unsigned = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const until = before(yield* now, signingGrace)
  const event = yield* Effect.orDie(Sql.one(sql<LateEvent>`
    select sequence, at from journal_event
    where organization_id = ${organizationId} and at <= ${until} and sequence > coalesce((
      select max(sequence) from journal_checkpoint where organization_id = ${organizationId}), 0)
    order by sequence limit 1`))
  return Option.fromNullishOr(event)
})

/**
 * The journals with such an event. One that was signed within the last two periods has none; a checkpoint that says it
 * was signed later than now is not believed.
 */
export const unsignedJournals = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const candidates = yield* Tenant.directory(sql)(sql<{ organization: string }>`
    select head.organization_id as organization
    from journal_head head left join lateral (
      select sequence, at from journal_checkpoint made where made.organization_id = head.organization_id
      order by sequence desc limit 1) as last on true
    where head.sequence > coalesce(last.sequence, 0)
      and (last.at is null or last.at <= ${before(at, signingGrace)} or last.at > ${at})
    order by head.organization_id limit ${most}`)
  const found = yield* Effect.forEach(
    candidates,
    ({ organization }) =>
      Tenant.transaction(sql, organization, { access: "read" })(unsigned(organization)).pipe(
        Effect.map(Option.map((event) => ({ organization, ...event })))
      )
  )
  return found.flatMap(Option.toArray)
})
