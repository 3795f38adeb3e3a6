import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { Db } from "../../../ports/Db.ts"
import { ChainChecks } from "../../../ports/journal/ChainChecks.ts"
import { CheckpointKeys } from "../../crypto/journal/CheckpointKeys.ts"
import * as Gauge from "../../Gauge.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as Chain from "./JournalChain.ts"

/** Checks a chain a page at a time, each in a transaction of its own. */
const checkOne = Effect.fnUntraced(function*(organizationId: OrganizationId, now: Date) {
  const sql = yield* SqlClient.SqlClient
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
      return state.ok ? null : state
    }).pipe(Effect.orDie)
  )
})

export const layer = Layer.effect(
  ChainChecks,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const services = yield* Effect.context<SqlClient.SqlClient | Db | CheckpointKeys>()
    let broken = 0
    yield* Gauge.show(
      "console_journal_chain_ok",
      "0 where the last check of a journal's chain found it broken",
      () => broken === 0 ? 1 : 0
    )
    return {
      due: (until, limit) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ id: OrganizationId }>`
            select organization_id as id from journal_head where checked_at is null or checked_at <= ${until}
            order by checked_at nulls first, organization_id limit ${limit}`),
          (rows) => rows.map(({ id }) => id)
        ),

      check: (organizationId, now) => Effect.provideContext(checkOne(organizationId, now), services),

      count: Effect.map(
        Tenant.directory(sql)(sql<{ broken: number }>`
          select count(*)::int as broken from journal_head where checked_ok = false`),
        ([row]) => {
          broken = row?.broken ?? 0
        }
      )
    }
  })
)
