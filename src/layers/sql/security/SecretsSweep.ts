/** Deletes expired secrets of accounts, and the counts and requests that belong to them. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { accountName } from "../../../domain/accounts/Account.ts"
import { service } from "../../../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { unrevealedTold } from "../../../domain/Limits.ts"
import * as Mail from "../../../domain/mail/index.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { plus } from "../../../domain/protection/Deadline.ts"
import { Db } from "../../../ports/Db.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Attempts from "./AccountAttempts.ts"

/** Secrets that end until then are reported. */
const soon = (now: Date) => plus(now, unrevealedTold)

/** Reports each password once that has not been revealed and ends soon. */
const reportEnds = Effect.fnUntraced(function*(organizationId: OrganizationId, now: Date) {
  const sql = yield* SqlClient.SqlClient
  const outbox = yield* Outbox
  const ending = yield* sql<Parameters<typeof accountName>[0] & { readonly id: string; readonly erase_at: Date }>`
    update account_secret set end_told_at = ${now} from account
    where account_secret.organization_id = ${organizationId} and account.organization_id = ${organizationId}
      and account.id = account_id and kind = 'two_fa' and slot = 'held' and end_told_at is null and revealed_at is null
      and erase_at <= ${soon(now)}
    returning account.id, first_name, last_name, username, phone_number, erase_at`
  for (const { erase_at, id, ...names } of ending) {
    const letter = Mail.secretUnrevealed({ account: { id, name: accountName(names) }, erasesAt: erase_at })
    yield* outbox.add(organizationId, `secret/${id}`, letter)
  }
})

/** The organizations that have something to forget. */
const concerned = Effect.fnUntraced(function*(now: Date) {
  const sql = yield* SqlClient.SqlClient
  return yield* Tenant.directory(sql)(sql<{ organization_id: string }>`
    select organization_id from account_secret
    where erase_at <= ${now} or erase_at <= ${soon(now)} and kind = 'two_fa' and slot = 'held' and end_told_at is null
      and revealed_at is null
    union select organization_id from email_change where kind = 'login' and expires_at <= ${now}`)
})

export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Db
  const journal = yield* Journal
  const now = new Date(yield* Clock.currentTimeMillis)
  for (const { organization_id } of yield* concerned(now)) {
    const organizationId = OrganizationId.make(organization_id)
    yield* db.transaction(
      organizationId,
      Effect.gen(function*() {
        yield* sql`
          delete from email_change
          where organization_id = ${organizationId} and kind = 'login' and expires_at <= ${now}`
        yield* reportEnds(organizationId, now)
        const erased = yield* sql<{ account_id: string; slot: string; kind: string }>`
          delete from account_secret where organization_id = ${organizationId} and erase_at <= ${now}
          returning account_id, slot, kind`
        // Secrets that were only kept in case the messenger still took them are nobody's news.
        for (const { account_id } of erased.filter(({ kind, slot }) => kind === "two_fa" && slot === "held")) {
          yield* journal.append(
            organizationId,
            journalEntry(service, background, journalAction("two_fa.erased"), {
              targetId: account_id,
              accountId: account_id
            })
          )
        }
      }).pipe(Effect.orDie)
    )
  }
  yield* Attempts.sweep
})
