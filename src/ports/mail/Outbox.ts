/** Mails that are to be sent. */
import { Context, type Effect } from "effect"
import type { Cause, Mail } from "../../domain/mail/Mail.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The mails of the organization that are written with a change and sent later. */
export class Outbox extends Context.Service<Outbox, {
  /** True if this service sends mail at all; without it none is written. */
  readonly available: boolean
  /**
   * Writes the mail to each who is to get it, within the current transaction; it dies for the cause `event` where the
   * transaction has appended none.
   */
  add(organizationId: OrganizationId, cause: Cause, mail: Mail): Effect.Effect<void>
}>()("org-security-console/ports/mail/Outbox") {}
