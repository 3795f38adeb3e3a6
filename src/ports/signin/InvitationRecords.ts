/** Invitations that can be accepted, by the digests of their tokens. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { OpenInvitation } from "./Invitations.ts"

export class InvitationRecords extends Context.Service<InvitationRecords, {
  /** The invitation of a token, of one organization or of any; a malformed token costs no statement. */
  find(
    token: Redacted.Redacted,
    organizationId: OrganizationId | null
  ): Effect.Effect<OpenInvitation | null, ServiceUnavailable>
  /** Locks the invited admin, within the organization's transaction; false where the invitation is over. */
  lock(admin: AdminRef, token: Redacted.Redacted, now: Date): Effect.Effect<boolean>
}>()("org-security-console/ports/signin/InvitationRecords") {}
