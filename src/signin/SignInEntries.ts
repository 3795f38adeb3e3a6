/** The entries and mails of what admins do at the console. */
import { Effect } from "effect"
import { record } from "../changes/Record.ts"
import type * as Actor from "../domain/journal/Actor.ts"
import type { ActionName, EntryOrigin } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import { browserName } from "../domain/signin/BrowserName.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"
import type { AdminRef } from "../ports/signin/ConsolePasswords.ts"
import type { SessionVisit } from "../ports/signin/ConsoleSessions.ts"

/** Journals what was done to an admin, and mails it, within the organization's transaction. */
export const recorder = Effect.gen(function*() {
  const services = yield* Effect.context<Journal | Outbox>()
  return (
    actor: Actor.Actor,
    { adminId, organizationId }: AdminRef,
    { ip, requestId, via = "console" }: Pick<EntryOrigin, "ip" | "requestId"> & Partial<EntryOrigin>,
    action: ActionName,
    details: JournalDetails,
    mail: Mail | null = null
  ) => {
    const author = { organizationId, actor, origin: { via, ip, requestId } }
    const mails = mail === null ? [] : [mail]
    return Effect.provideContext(record(author, action, { id: adminId }, details, mails), services)
  }
})

/** The place and time of an action, as mails show them. */
export const placeOf = ({ adminId }: AdminRef, { ip, userAgent }: SessionVisit, at: Date) => ({
  adminId,
  at,
  browser: browserName(userAgent),
  ip
})
