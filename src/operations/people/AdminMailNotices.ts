/** Mails about admins. */
import { Effect, type Redacted } from "effect"
import * as Mails from "../../domain/mail/AdminMails.ts"
import type { Caller, Role } from "../../domain/people/Access.ts"
import type { GivenRole } from "../../domain/people/Admin.ts"
import { Outbox } from "../../ports/mail/Outbox.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { type Invitation, InvitationReceiver } from "../../ports/people/ManagedAdmins.ts"
import { ConsoleAddress, invitationLink } from "../../ports/signin/ConsoleAddress.ts"

/** The mail with the link, where this process knows an address for it; no mail is written where none is sent. */
export const invitation = Effect.fnUntraced(function*(
  caller: Caller["Service"],
  { expiresAt, id, token }: Invitation,
  role: Role
) {
  if (!(yield* Outbox).available) {
    yield* (yield* InvitationReceiver)(token)
    return []
  }
  const address = (yield* ConsoleAddress)(caller.organizationId)
  if (address === null) return []
  const { name } = yield* (yield* Organizations).facts(caller)
  const link: Redacted.Redacted = invitationLink(address, token)
  return [Mails.invitation({ adminId: id, link, expiresAt, organizationName: name, role })]
})

/** The mail to the owner about a new superadmin. */
export const superadmin = ({ adminName }: Caller["Service"], email: string, role: GivenRole) =>
  role === "superadmin" ? [Mails.superadminInvited({ email, by: adminName ?? "an admin" })] : []
