/** The shared parts of checking and changing second factors. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type * as Actor from "../../../domain/journal/Actor.ts"
import { type ActionName, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../../../domain/journal/JournalEvent.ts"
import * as Mails from "../../../domain/mail/AdminMails.ts"
import type { Mail } from "../../../domain/mail/Mail.ts"
import { browserName } from "../../../domain/signin/BrowserName.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import type { SessionVisit } from "../../../ports/signin/ConsoleSessions.ts"
import { Peppers } from "../../crypto/Peppers.ts"
import { CsrfKeys } from "../../crypto/signin/CsrfKeys.ts"
import { Vault } from "../../crypto/Vault.ts"
import type * as Factors from "./Factors.ts"

/** The tools that check, keep and report second factors. */
export const tools = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const journal = yield* Journal
  const outbox = yield* Outbox
  const secrets: Factors.FactorSecrets = { vault: yield* Vault, peppers: yield* Peppers, keys: yield* CsrfKeys }

  /** Journals what an admin did, and mails it to them; within the organization's transaction. */
  const record = Effect.fnUntraced(function*(
    actor: Actor.Actor,
    { adminId, organizationId }: AdminRef,
    visit: SessionVisit,
    action: ActionName,
    details: JournalDetails,
    mail: Mail | null
  ) {
    yield* journal.append(
      organizationId,
      journalEntry(actor, { ...visit, via: "console" }, journalAction(action), {
        targetId: adminId,
        details
      })
    )
    if (mail !== null) yield* outbox.add(organizationId, "event", mail)
  })

  /** A challenge that comes back in a ticket. */
  const challenge = Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url"))

  const left = ({ adminId, organizationId }: AdminRef) =>
    sql<{ left: number }>`
      select count(*)::int as left from recovery_code
      where organization_id = ${organizationId} and admin_id = ${adminId} and used_at is null`.pipe(
      Effect.orDie,
      Effect.map(([row]) => row?.left ?? 0)
    )

  /** Records that a recovery code was used. */
  const recordCodeUse = Effect.fnUntraced(
    function*(actor: Actor.Actor, admin: AdminRef, visit: SessionVisit, at: Date) {
      const codes = yield* left(admin)
      yield* record(
        actor,
        admin,
        visit,
        "recovery_code.used",
        { left: codes },
        Mails.recoveryCodeUsed({ ...done(admin, visit, at), left: codes })
      )
    }
  )

  return { sql, random, secrets, record, recordCodeUse, challenge, left }
})

/** The place and time of an action, as mails show them. */
export const done = ({ adminId }: AdminRef, { ip, userAgent }: SessionVisit, at: Date) => ({
  adminId,
  at,
  browser: browserName(userAgent),
  ip
})
