/** The service that takes mails on their way. */
import { Context, Data, type Effect } from "effect"
import type { Letter } from "../../domain/mail/Letter.ts"

/** A mail was not accepted; the reason contains no secret and no address. */
export class NotSent extends Data.TaggedError("NotSent")<{
  readonly reason: string
  /** True if this mail is refused for good, whatever becomes of the others. */
  readonly final: boolean
}> {}

/** One mail to one person. */
export interface OutgoingMail {
  /** An id that stays when the mail is sent again, so that a person who gets it twice sees it once. */
  readonly id: string
  readonly recipient: string
  readonly at: Date
  readonly letter: Letter
}

/** Sends mail, or is null where the service sends none. */
export class MailSender extends Context.Service<
  MailSender,
  {
    send(mail: OutgoingMail): Effect.Effect<void, NotSent>
  } | null
>()("org-security-console/ports/mail/MailSender") {}
