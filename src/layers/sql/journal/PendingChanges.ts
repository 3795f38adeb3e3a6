/** Closes what a crash left open: an intent without an outcome becomes failed, its cause unknown. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { service } from "../../../domain/journal/Actor.ts"
import { background, journalEntry, type TargetType } from "../../../domain/journal/JournalEntry.ts"
import type { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"

type Intent = Pick<JournalEvent, "action" | "account_id" | "details"> & {
  readonly target_type: TargetType
  readonly target_id: string
}

/**
 * Closes every intent whose time is over; on a database that only this process uses, `all` closes the others too, for
 * the process that opened them is gone. Returns how many it closed.
 */
export const closeAbandoned = Effect.fnUntraced(function*(all: boolean) {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Ports.Db
  const journal = yield* Ports.Journal
  const now = new Date(yield* Clock.currentTimeMillis)
  const open = yield* Tenant.directory(sql)(sql<{ organization_id: string; sequence: number }>`
    select organization_id, sequence from pending_change where ${all ? sql`true` : sql`deadline <= ${now}`}
    order by organization_id, sequence`)
  let closed = 0
  for (const { organization_id, sequence } of open) {
    const organizationId = OrganizationId.make(organization_id)
    yield* db.transaction(
      organizationId,
      Effect.gen(function*() {
        const [intent] = yield* Effect.orDie(sql<Intent>`
          select action, account_id, details, target_type, target_id from journal_event
          where organization_id = ${organizationId} and sequence = ${sequence}`)
        if (intent === undefined) return
        const first = yield* journal.close(
          organizationId,
          sequence,
          journalEntry(service, background, { action: intent.action, target: intent.target_type }, {
            targetId: intent.target_id,
            accountId: intent.account_id,
            outcome: "failed",
            details: { ...intent.details, error: "unknown", certain: false },
            closes: sequence
          })
        )
        if (first) closed += 1
      })
    )
  }
  if (closed > 0) yield* Effect.logWarning(`Closed ${closed} changes that were left pending`)
  return closed
})
