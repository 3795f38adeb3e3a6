/** Changes that admins and operators make in the same way, within the transaction, with the details of their events. */
import { Effect } from "effect"
import { ownershipTransferred } from "../domain/mail/AdminMails.ts"
import type { OrganizationId, Scope } from "../domain/people/Access.ts"
import type { AdminFacts } from "../domain/people/Admin.ts"
import { IssuedCredentials } from "../ports/credentials/IssuedCredentials.ts"
import { ManagedAdmins } from "../ports/people/ManagedAdmins.ts"

/** Makes the next the owner, both held; the owner before, null where there was none, becomes a superadmin. */
export const transferOwnership = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  owner: AdminFacts | null,
  next: AdminFacts
) {
  const managed = yield* ManagedAdmins
  yield* managed.transfer(organizationId, owner?.id ?? null, next.id)
  const details = { from: owner?.email ?? "nobody", to: next.email }
  const recipients = owner === null ? [next] : [owner, next]
  return { details, mails: recipients.map(({ id }) => ownershipTransferred({ adminId: id, ...details })) }
})

/** The details of the event of a new API key, besides who made it for whom. */
export const createdApiKey = (label: string, scopes: ReadonlyArray<Scope>) => ({ label, scopes: scopes.join(" ") })

/** Revokes the key, which is held, and those that were made with it. */
export const revokeApiKey = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string, now: Date) {
  const issued = yield* IssuedCredentials
  const made = yield* issued.revokeApiKey(organizationId, id, now)
  return made === 0 ? {} : { keys_made_with_it: made }
})
