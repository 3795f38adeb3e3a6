/** Checks the journal's chains by itself: each whole, once a day, a page at a time. */
import { Clock, Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { Db } from "../../../ports/Db.ts"
import { CheckpointKeys } from "../../crypto/journal/CheckpointKeys.ts"
import * as Gauge from "../../Gauge.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as Chain from "./JournalChain.ts"

/** The interval of a chain's checks, and the number of chains that one run checks at most. */
const period = Duration.days(1)
const batch = 100

/** Reads the journal to its end, compares it with the head while nothing is appended, and stores the result. */
const checkOne = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, organizationId: OrganizationId, now: Date) {
  const db = yield* Db
  const { publicKeys } = yield* CheckpointKeys
  const at = yield* Chain.lastPage(organizationId, Chain.beginning(organizationId))
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      yield* sql`select 1 from journal_head where organization_id = ${organizationId} for no key update`
      const last = Option.getOrNull(yield* Checkpoints.newest(organizationId))
      const state = Chain.forgedBy(publicKeys, last) ?? (yield* Chain.verify(organizationId, [], at))
      yield* sql`
        update journal_head set checked_at = ${now}, checked_ok = ${state.ok}, checked_sequence = ${state.sequence},
          checked_hash = ${state.ok ? state.hash : null}
        where organization_id = ${organizationId}`
      return state
    }).pipe(Effect.orDie)
  )
})

/** Stores that a chain is broken, and returns whether that was not known. */
export const foundBroken = Effect.fnUntraced(function*(organizationId: OrganizationId, { sequence }: Chain.Broken) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const found = yield* (yield* Db).transaction(
    organizationId,
    Effect.orDie(sql`
      update journal_head set checked_at = ${now}, checked_ok = false, checked_sequence = ${sequence},
        checked_hash = null
      where organization_id = ${organizationId} and checked_ok is distinct from false returning 1`)
  )
  return found.length > 0
})

/** Checks the chains that are due; a broken one is logged at each check. */
export const turns = Effect.gen(function*() {
  let broken = 0
  yield* Gauge.show(
    "console_journal_chain_ok",
    "0 where the last check of a journal's chain found it broken",
    () => broken === 0 ? 1 : 0
  )
  // @effect-diagnostics-next-line returnEffectInGen:off -- what checks is what is made
  return Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const now = new Date(yield* Clock.currentTimeMillis)
    const before = new Date(now.getTime() - Duration.toMillis(period))
    const due = yield* Tenant.directory(sql)(sql<{ organization_id: string }>`
      select organization_id from journal_head where checked_at is null or checked_at <= ${before}
      order by checked_at nulls first, organization_id limit ${batch}`)
    for (const { organization_id } of due) {
      const state = yield* checkOne(sql, OrganizationId.make(organization_id), now)
      if (state.ok) continue
      yield* Effect.logError(
        `The journal of ${organization_id} is broken at ${state.sequence} (${state.reason}): see journal verify`
      )
    }
    const [row] = yield* Tenant.directory(sql)(sql<{ broken: number }>`
      select count(*)::int as broken from journal_head where checked_ok = false`)
    broken = row?.broken ?? 0
    return due.length
  })
})
