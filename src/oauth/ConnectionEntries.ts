/** The authorization server's entries in the journal. */
import { type Author, record } from "../changes/Record.ts"
import * as Actor from "../domain/journal/Actor.ts"
import type { ActionName } from "../domain/journal/JournalEntry.ts"
import type { ClientOrigin, OAuthConnection } from "../domain/oauth/OAuthRecords.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import type { SignedIn } from "../ports/signin/ConsoleSessions.ts"

/** An admin on a page of the console. */
export const byAdmin = (admin: SignedIn, origin: ClientOrigin): Author => ({
  organizationId: admin.organizationId,
  actor: Actor.signedIn({ ...admin, adminName: admin.adminName ?? admin.email }),
  origin: { ...origin, via: "console" }
})

/** Journals an application's use of its connection, or the service's answer to that. */
export const recordConnection = (
  action: ActionName,
  actor: "admin" | "service",
  organizationId: OrganizationId,
  connection: OAuthConnection,
  origin: ClientOrigin
) => {
  const credential = { kind: "oauth" as const, id: connection.id, label: connection.label }
  const author: Author = {
    organizationId,
    actor: actor === "admin" ? Actor.caller({ ...connection, credential }) : { type: "service", credential },
    origin: { ...origin, via: "rest" }
  }
  return record(author, action, { id: connection.id }, { client_name: connection.clientName })
}
