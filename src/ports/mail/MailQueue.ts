/** Mails that wait for the job that sends them. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"

export interface QueuedMail {
  readonly organization_id: string
  readonly id: string
  readonly recipient: string
  /** True if it may be sent together with others to the same person. */
  readonly joins: boolean
  readonly letter_sealed: string
  readonly created_at: Date
  readonly attempts: number
}

/** The mails that leave as one. */
export type Bundle = readonly [QueuedMail, ...Array<QueuedMail>]

export interface ClaimOptions {
  readonly now: Date
  /** Keeps the mails for this process until then, even if it has ended. */
  readonly until: Date
  readonly limit: number
  /** The numbers of mails to one person that are joined, at least and at most. */
  readonly joined: { readonly from: number; readonly atMost: number }
  /** The kind that is sent though its recipient be no admin. */
  readonly toAnyone: string
}

/** A mail after an attempt, and when it is sent again; null where that is its end. */
export interface AttemptedMail {
  readonly mail: QueuedMail
  readonly next: Date | null
}

export class MailQueue extends Context.Service<MailQueue, {
  isDue(now: Date): Effect.Effect<boolean, ServiceUnavailable>
  /**
   * Claims what is due under a new token, and drops what goes to nobody: to admins who were disabled or removed since, or
   * to organizations that were closed; null where nothing is due that nobody else holds.
   */
  claim(options: ClaimOptions): Effect.Effect<
    { readonly token: string; readonly bundles: ReadonlyArray<Bundle> } | null,
    ServiceUnavailable
  >
  /** The letter as JSON; dies if it was sealed under a pepper that is no longer given. */
  letter(mail: QueuedMail): Effect.Effect<Redacted.Redacted>
  /** Stores the outcome, an error or null; nothing where another process has claimed the mails since. */
  finish(
    token: string,
    mails: ReadonlyArray<AttemptedMail>,
    error: string | null,
    now: Date
  ): Effect.Effect<void, ServiceUnavailable>
  /** Counts what waits, for the metrics. */
  readonly count: Effect.Effect<void, ServiceUnavailable>
  /** Deletes the records until the moment of mails that are over. */
  forget(until: Date): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/mail/MailQueue") {}
