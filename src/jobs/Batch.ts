/** Changes of what is due, and their entries in the journal. */
import { Effect } from "effect"
import { byService, record } from "../changes/Record.ts"
import { type ActionName, journalAction } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { Db } from "../ports/Db.ts"
import type { Due } from "../ports/Due.ts"

/** Changes each organization's objects in a transaction of its own; returns the sum of what the changes return. */
export const changeDue = Effect.fnUntraced(function*<E, R>(
  due: ReadonlyArray<Due>,
  change: (organizationId: OrganizationId, ids: ReadonlyArray<string>) => Effect.Effect<number, E, R>
) {
  const db = yield* Db
  let changed = 0
  for (const [organizationId, objects] of Map.groupBy(due, (object) => object.organizationId)) {
    changed += yield* db.transaction(organizationId, change(organizationId, objects.map(({ id }) => id)))
  }
  return changed
})

/** Journals what has happened to an account. */
export const recordAccount = (
  organizationId: OrganizationId,
  name: ActionName,
  id: string,
  details: JournalDetails = {},
  mails: ReadonlyArray<Mail> = []
) => record(byService(organizationId), name, { id, accountId: id }, details, mails)

/** Journals what has happened to an organization, or to many of its accounts together. */
export const recordOrganization = (
  organizationId: OrganizationId,
  name: ActionName,
  details: JournalDetails,
  mails: ReadonlyArray<Mail> = []
) =>
  record(
    byService(organizationId),
    { ...journalAction(name), target: "organization" },
    { id: organizationId },
    details,
    mails
  )
