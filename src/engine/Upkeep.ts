/** What has to be done to the stored data from time to time; each member does what is due at the Clock's now. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { JobFailure } from "./Job.ts"

type Done<E = never> = Effect.Effect<unknown, ServiceUnavailable | E>

/** A place outside the database that checkpoints are pushed to. */
export interface PushTarget {
  readonly name: string
  readonly push: Done
}

export class Upkeep extends Context.Service<Upkeep, {
  /** Closes the intents that were left open and are due, or `all` of them; of two processes one closes each. */
  closeAbandonedIntents(all: boolean): Done
  /**
   * Brings the kept statuses up to date that time alone has ended; rows that another process has locked are skipped.
   */
  readonly refreshStatuses: Done
  /** Counts the accounts in each status, for charts; a second process writes nothing more. */
  readonly sampleStatuses: Done
  /**
   * Makes accounts unknown that nobody has looked at for too long; rows that another process has locked are skipped.
   */
  readonly noticeSilence: Done
  /**
   * Ends trials, suspends organizations long after their licence, stops protection where a licence has ended, restores
   * it where one is back, leaves accounts that have long been without one, and frees the seats of sign-up links that
   * nobody used in time; batches lock their rows.
   */
  readonly settleLicences: Done
  /** Ends the locks of takeovers that are over; rows that another process has locked are skipped. */
  readonly expireTakeoverLocks: Done
  /** Reports API keys that end soon or have ended; rows that another process has locked are skipped. */
  readonly reportKeyExpiry: Done
  /** Checks the journals whose last check is a day old; what two processes check is written down twice. */
  readonly checkJournals: Done
  /** Signs the journals that are due, or `all` that have something new; one process at a time. */
  signCheckpoints(all: boolean): Done<JobFailure>
  /** Where signed checkpoints are pushed; a lease keeps other processes from one target. */
  readonly pushTargets: ReadonlyArray<PushTarget>
  /** Mails a link for each request for one; a request that two processes see leads to one mail. */
  readonly mailPasswordResets: Done
  /** Sends the mails that are due; of two processes one claims each. */
  readonly sendMail: Done
  /** Journals the wrong passwords that have waited for an hour, each once under its row's lock. */
  readonly journalPasswordFailures: Done
  // What follows deletes rows by their age: a second process finds nothing to delete.
  readonly forgetPasswordAttempts: Done
  readonly forgetRateLimits: Done
  readonly forgetConsoleSessions: Done
  readonly forgetBrowsers: Done
  readonly forgetOAuth: Done
  readonly forgetIdempotencyKeys: Done
  readonly forgetMail: Done
  /**
   * Forgets secrets whose time is over, keys of sessions on the messenger that nobody has any more, attempts that count
   * no more, and login addresses that nobody confirmed.
   */
  readonly forgetSecrets: Done
  readonly forgetPasswordResets: Done
}>()("org-security-console/engine/Upkeep") {}
