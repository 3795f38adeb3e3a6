/** The entries of the authorization server in the journal. */
import * as Actor from "../domain/journal/Actor.ts"
import { type ActionName, journalAction, type JournalEntry, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { ClientOrigin, OAuthConnection } from "../domain/oauth/OAuthRecords.ts"
import type { SignedIn } from "../ports/signin/ConsoleSessions.ts"

/** The entry for an admin's action on a page of the console. */
export const adminEntry = (
  action: ActionName,
  admin: SignedIn,
  connectionId: string,
  origin: ClientOrigin,
  details: JournalDetails
): JournalEntry =>
  journalEntry(
    Actor.signedIn({ ...admin, adminName: admin.adminName ?? admin.email }),
    { ...origin, via: "console" },
    journalAction(action),
    { targetId: connectionId, details }
  )

/** The entry for an application's use of its connection, or for what the service had to do about it. */
export const connectionEntry = (
  action: ActionName,
  actor: "admin" | "service",
  connection: OAuthConnection,
  origin: ClientOrigin
): JournalEntry => {
  const credential = { kind: "oauth" as const, id: connection.id, label: connection.label }
  return journalEntry(
    actor === "admin" ? Actor.caller({ ...connection, credential }) : { type: "service", credential },
    { ...origin, via: "rest" },
    journalAction(action),
    { targetId: connection.id, details: { client_name: connection.clientName } }
  )
}
