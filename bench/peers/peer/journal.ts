/** The peer's entry in the journal: chained by hash, behind the lock on the journal's head. */
import canonicalize from "canonicalize"
import * as crypto from "node:crypto"
import { appendEvent, lockJournal, openJournal } from "../statements.ts"
import type { Caller } from "./admission.ts"
import type { Run } from "./database.ts"
import { uuidV7 } from "./ids.ts"

/** What is told of a request besides its caller. */
export interface Origin {
  readonly via: "rest" | "mcp"
  readonly ip: string
  readonly requestId: string
}

const sha256 = (...parts: ReadonlyArray<string | Buffer>): string => {
  const hash = crypto.createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest("hex")
}

interface Head {
  readonly sequence: number
  readonly hash: string
  readonly at: Date
}

/** The organization's head, locked; its first event makes it. */
const lockHead = async (run: Run, organizationId: string, now: Date): Promise<Head> => {
  const [head] = await run<Head>(lockJournal, [organizationId])
  if (head !== undefined) return head
  await run(openJournal, [organizationId, sha256(`journal/1\n${organizationId}`), now])
  const [made] = await run<Head>(lockJournal, [organizationId])
  if (made === undefined) throw new Error("The journal has no head")
  return made
}

/** Appends that the caller set an account's label. */
export const appendRoleLabel = async (
  run: Run,
  { adminId, adminName, key, organizationId }: Caller,
  { ip, requestId, via }: Origin,
  accountId: string,
  details: Readonly<Record<string, string>>
): Promise<void> => {
  const now = Date.now()
  const head = await lockHead(run, organizationId, new Date(now))
  const at = new Date(Math.max(now, head.at.getTime()))
  const event = {
    object: "journal_event",
    id: uuidV7(),
    sequence: head.sequence + 1,
    at: at.toISOString(),
    action: "account.role_label_set",
    outcome: "done",
    actor: { type: "admin", admin_id: adminId, name: adminName },
    credential: { kind: "api_key", id: key.id, label: key.label },
    via,
    account_id: accountId,
    target: { type: "account", id: accountId },
    details,
    ip,
    request_id: requestId,
    closes: null,
    prev_hash: head.hash
  }
  const hash = sha256(Buffer.from(head.hash, "hex"), canonicalize(event) ?? "")
  const { action, actor, closes, credential, id, outcome, prev_hash, sequence, target } = event
  await run(appendEvent, [
    sequence,
    hash,
    at,
    organizationId,
    organizationId,
    new Date((Math.floor(at.getTime() / 60_000) + 1) * 60_000),
    sequence,
    organizationId,
    accountId,
    organizationId,
    sequence,
    id,
    at,
    action,
    outcome,
    actor.type,
    actor.admin_id,
    actor.name,
    credential.kind,
    credential.id,
    credential.label,
    via,
    accountId,
    target.type,
    target.id,
    JSON.stringify(details),
    ip,
    requestId,
    closes,
    prev_hash,
    hash
  ])
}
