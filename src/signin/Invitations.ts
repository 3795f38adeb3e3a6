/** Joining by an invitation. */
import { Effect, Layer, type Redacted } from "effect"
import { superadminJoined } from "../domain/mail/AdminMails.ts"
import { now } from "../domain/Moments.ts"
import { Db } from "../ports/Db.ts"
import { AdminPasswords } from "../ports/signin/AdminPasswords.ts"
import { type Attempt, ConsolePasswords } from "../ports/signin/ConsolePasswords.ts"
import { InvitationRecords } from "../ports/signin/InvitationRecords.ts"
import { Invitations, type OpenInvitation } from "../ports/signin/Invitations.ts"
import { recorder } from "./SignInEntries.ts"
import { makeTurns, throttle } from "./Throttle.ts"

export const layer = Layer.effect(
  Invitations,
  Effect.gen(function*() {
    const db = yield* Db
    const invitations = yield* InvitationRecords
    const stored = yield* AdminPasswords
    const passwords = yield* ConsolePasswords
    const record = yield* recorder
    const { countLink } = yield* throttle
    const turns = makeTurns()

    const look: Invitations["Service"]["look"] = (token, { organizationId }, attempt) =>
      countLink(attempt, invitations.find(token, organizationId))

    /** Uses the invitation up; false if it was used or replaced meanwhile. */
    const join = Effect.fnUntraced(function*(
      admin: OpenInvitation,
      token: Redacted.Redacted,
      hash: Redacted.Redacted,
      { ip, requestId }: Attempt
    ) {
      const { adminId, email, organizationId, role } = admin
      const at = yield* now
      return yield* db.transaction(
        organizationId,
        Effect.gen(function*() {
          if (!(yield* invitations.lock(admin, token, at))) return false
          yield* stored.set(admin, hash, at)
          const actor = { type: "admin", adminId, name: email, credential: null } as const
          const mail = role === "superadmin" ? superadminJoined({ email }) : null
          yield* record(actor, admin, { ip, requestId }, "admin.joined", { email, role }, mail)
          return true
        })
      )
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
