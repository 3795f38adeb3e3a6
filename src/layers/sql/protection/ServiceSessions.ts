/**
 * The service's own sessions of an account; one that is not used any more is logged out by a task, or forgotten after a
 * month.
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { retiredSessionKept } from "../../../domain/Limits.ts"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { after } from "../../../domain/Moments.ts"
import type { SecretsOf } from "../../../ports/security/Secrets.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** Adds a session to an account, within the caller's transaction. */
export const add = (
  sql: SqlClient.SqlClient,
  { accountId, organizationId }: SecretsOf,
  slot: "main" | "pairing",
  ref: SessionRef,
  createdAt: Date
) => {
  const row = { organization_id: organizationId, account_id: accountId, slot, session_ref: ref, created_at: createdAt }
  return Tenant.post(sql)(sql`insert into service_session ${sql.insert(row)}`)
}

/** Puts those sessions of an account aside, within the caller's transaction; they are logged out from `due` on. */
export const retire = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { accountId, organizationId }: SecretsOf,
  which: Statement.Fragment,
  { due, now }: { readonly due: Date; readonly now: Date }
) {
  const until = after(now, retiredSessionKept)
  const retired = yield* sql`
    update service_session set slot = 'retired', erase_at = coalesce(erase_at, ${until})
    where organization_id = ${organizationId} and account_id = ${accountId} and ${which} returning id`
  if (retired.length === 0) return
  yield* Tenant.post(sql)(sql`
    insert into account_task (organization_id, account_id, kind, due_at)
    values (${organizationId}, ${accountId}, 'log_out', ${due})
    on conflict (organization_id, account_id, kind) do update set due_at = excluded.due_at, tries = 0`)
})
