/** What has to be done to the stored data from time to time, each declared once, and the service that does it. */
import { Context } from "effect"
import { statusSamplePeriod } from "../domain/Limits.ts"
import type { Declared, Work } from "./Job.ts"

/** The jobs by their names; what is said beside one is what its work has to keep. */
export const upkeepJobs = {
  /** Of two processes one closes each. */
  close_abandoned_intents: {
    period: "15 seconds",
    does:
      "closes changes on the messenger that were begun a minute ago and have no outcome; at the start of a process that has the database alone, all of them"
  },
  /** Rows that another process has locked are skipped. */
  refresh_statuses: {
    period: "1 minute",
    does: "writes down the statuses of accounts that time alone has ended"
  },
  /** A second process writes nothing more. */
  sample_statuses: {
    period: statusSamplePeriod,
    does: "counts the accounts of each status, where that has changed, for the charts of 30 days"
  },
  /** Batches lock their rows. */
  settle_licences: {
    period: "1 minute",
    does:
      "ends trials that are over, and suspends organizations 30 days after their licence by agreement; stops the protection of organizations whose licence has ended or that are suspended or closed, and restores it with the licence; after 30 days it gives up their sessions on the messenger, which a worker logs out, with the 2FA password and the passkey of the service removed; frees the seats of sign-up links that nobody used in time"
  },
  /** Rows that another process has locked are skipped. */
  expire_takeover_locks: {
    period: "1 minute",
    does: "ends the locks of takeovers after 48 hours"
  },
  /** Rows that another process has locked are skipped. */
  tell_key_expiry: {
    period: "1 minute",
    does: "mails admins whose API keys end within 7 days, and journals keys that have ended"
  },
  /** What two processes check is written down twice. */
  check_journals: {
    period: "10 minutes",
    does: "checks each journal's chain once a day; what it finds is in `get_status`, the log and a metric"
  },
  /** Rows that another process has locked are skipped. Only of a service whose accounts are to be watched. */
  notice_silence: {
    period: "1 minute",
    does: "makes accounts unknown that nobody has looked at for 10 minutes, though no process watches"
  },
  /** One process at a time. */
  sign_checkpoints: {
    period: "15 seconds",
    does: "signs the journals that are due; at the end of a process that has the database alone, all of them"
  },
  /** One job for each target; a lease keeps other processes from it. */
  push_checkpoints: {
    period: "15 seconds",
    does: "pushes signed checkpoints; one job for each target, which its name ends with"
  },
  /** A request that two processes see leads to one mail. */
  mail_password_resets: {
    period: "1 second",
    does: "mails a link to admins who have asked for one"
  },
  /** Of two processes one claims each mail. */
  send_mail: {
    period: "1 second",
    does: "sends the mails that are due"
  },
  /** Each once under its row's lock. */
  journal_password_failures: {
    period: "10 minutes",
    does: "journals wrong passwords that have waited for an hour"
  },
  // What follows deletes rows by their age: a second process finds nothing to delete.
  forget_password_attempts: {
    period: "10 minutes",
    does: "deletes attempts at passwords after a day"
  },
  forget_rate_limits: {
    period: "10 minutes",
    does: "deletes counters of requests that are over"
  },
  forget_console_sessions: {
    period: "10 minutes",
    does: "deletes console sessions and sign-ins that are over"
  },
  forget_browsers: {
    period: "10 minutes",
    does: "deletes browsers that were not used for 180 days"
  },
  forget_oauth: {
    period: "10 minutes",
    does: "deletes tokens and codes that are over, and applications that nobody connected"
  },
  forget_idempotency_keys: {
    period: "10 minutes",
    does: "deletes idempotency keys after a day"
  },
  forget_secrets: {
    period: "10 minutes",
    does:
      "deletes secrets that were replaced a week ago, keys of sessions that are gone, attempts that count no more, and login addresses that nobody confirmed"
  },
  forget_mail: {
    period: "10 minutes",
    does: "deletes what is left of mails after 30 days"
  },
  forget_password_resets: {
    period: "10 minutes",
    does: "deletes what is left of links to a new password after a day"
  }
} as const satisfies Record<string, Declared>

/** A place outside the database that checkpoints are pushed to. */
export interface PushTarget extends Work {
  readonly name: string
}

/** What each of the jobs does. */
export class Upkeep extends Context.Service<
  Upkeep,
  {
    readonly [Name in keyof typeof upkeepJobs]: Name extends "push_checkpoints" ? ReadonlyArray<PushTarget> : Work
  }
>()("org-security-console/engine/Upkeep") {}
