import { Clock, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { superadminJoined } from "../../../domain/mail/AdminMails.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { type Attempt, ConsolePasswords } from "../../../ports/signin/ConsolePasswords.ts"
import type { CookieSite } from "../../../ports/signin/ConsoleSessions.ts"
import { Invitations, type OpenInvitation } from "../../../ports/signin/Invitations.ts"
import { InvitationTokens } from "../../crypto/signin/LinkTokens.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"
import * as LinkThrottle from "./LinkThrottle.ts"
import { makeTurns } from "./PasswordThrottle.ts"

/** Invitations in the database, by the digests of their tokens. */
export const layer = Layer.effect(
  Invitations,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const tokens = yield* InvitationTokens
    const passwords = yield* ConsolePasswords
    const journal = yield* Journal
    const outbox = yield* Outbox
    const turns = makeTurns()

    const open = (now: Date) =>
      sql`invitation_expires_at > ${now} and joined_at is null and disabled_at is null and removed_at is null
        and ${isOpen(sql)}`

    const find = Effect.fnUntraced(function*(token: Redacted.Redacted, { organizationId }: CookieSite) {
      if (!tokens.isWellFormed(token)) return null
      const now = new Date(yield* Clock.currentTimeMillis)
      const [found] = yield* Tenant.directory(sql)(sql<OpenInvitation>`
        select organization.id as "organizationId", organization.name as "organizationName", admin.id as "adminId",
          email, role
        from admin join organization on organization.id = admin.organization_id
        where ${sql.in("invitation_digest", tokens.digests(token))} and ${open(now)}
          and (${organizationId}::text is null or organization.id = ${organizationId})`)
      return found ?? null
    })

    const look = (token: Redacted.Redacted, site: CookieSite, attempt: Attempt) =>
      LinkThrottle.counted(sql, attempt)(find(token, site))

    /** Uses the invitation up; false if it was used or replaced meanwhile. */
    const join = Effect.fnUntraced(function*(
      { adminId, email, organizationId, role }: OpenInvitation,
      token: Redacted.Redacted,
      hash: Redacted.Redacted,
      { ip, requestId }: Attempt
    ) {
      const now = new Date(yield* Clock.currentTimeMillis)
      return yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        const held = yield* sql`
          select 1 from admin
          where organization_id = ${organizationId} and id = ${adminId}
            and ${sql.in("invitation_digest", tokens.digests(token))} and ${open(now)}
          for no key update`
        if (held.length === 0) return false
        yield* post(sql`
          update admin set password_hash = ${Redacted.value(hash)}, password_changed_at = ${now}, joined_at = ${now},
            invitation_digest = null, invitation_pepper_id = null
          where organization_id = ${organizationId} and id = ${adminId}`)
        yield* journal.append(
          organizationId,
          journalEntry(
            { type: "admin", adminId, name: email, credential: null },
            { via: "console", ip, requestId },
            journalAction("admin.joined"),
            { targetId: adminId, details: { email, role } }
          )
        )
        if (role === "superadmin") yield* outbox.add(organizationId, "event", superadminJoined({ email }))
        return true
      }))
    })

    return Invitations.of({
      look,
      accept: (token, password, site, attempt) =>
        Effect.gen(function*() {
          const found = yield* look(token, site, attempt)
          if (found === null) return null
          const joined = yield* turns(found.adminId)(Effect.flatMap(
            passwords.hash(found, password),
            (hash) => join(found, token, hash, attempt)
          ))
          return joined ? found : null
        })
    })
  })
)
