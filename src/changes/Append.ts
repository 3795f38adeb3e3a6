/** Journals an event with the mails that are sent because of it. */
import { Effect } from "effect"
import type { JournalEntry } from "../domain/journal/JournalEntry.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { Outbox } from "../ports/mail/Outbox.ts"

/** Appends the entry within the current transaction, and writes its mails with it. */
export const append = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  entry: JournalEntry,
  mails: ReadonlyArray<Mail> = []
) {
  const journal = yield* Journal
  const outbox = yield* Outbox
  yield* journal.append(organizationId, entry)
  for (const mail of mails) yield* outbox.add(organizationId, "event", mail)
})
