/** What the authorization server writes into the journal. */
import type { SignedIn } from "../console/ConsoleSessions.ts"
import type { JournalDetails, JournalEntry } from "../domain/JournalEvent.ts"
import type { Connection, Origin } from "./Values.ts"

const target = (id: string) => ({ type: "ai_connection", id })

/** What an admin did on a page of the console. */
export const adminEntry = (
  action: string,
  admin: SignedIn,
  connectionId: string,
  { ip, requestId }: Origin,
  details: JournalDetails
): JournalEntry => ({
  action,
  outcome: "done",
  actor: { type: "admin", admin_id: admin.adminId, name: admin.adminName ?? admin.email },
  credential: { kind: "console", id: admin.sessionId, label: "Console" },
  via: "console",
  account_id: null,
  target: target(connectionId),
  details,
  ip,
  request_id: requestId,
  closes: null
})

/** What an application did with its connection, or what the service had to do about it. */
export const connectionEntry = (
  action: string,
  actor: "admin" | "service",
  connection: Connection,
  { ip, requestId }: Origin
): JournalEntry => ({
  action,
  outcome: "done",
  actor: actor === "admin"
    ? { type: "admin", admin_id: connection.adminId, name: connection.adminName }
    : { type: "service", admin_id: null, name: null },
  credential: { kind: "oauth", id: connection.id, label: connection.label },
  via: "rest",
  account_id: null,
  target: target(connection.id),
  details: { client_name: connection.clientName },
  ip,
  request_id: requestId,
  closes: null
})
