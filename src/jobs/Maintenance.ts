/** The work on the stored data from time to time, each kind declared once, and the service that does it. */
import { Context } from "effect"
import { statusSamplePeriod } from "../domain/Limits.ts"
import type { Declared, Work } from "./Job.ts"

/** The jobs by their names; a comment at a job says what its work has to guarantee. */
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
    does: "stores the new statuses of accounts whose stored status has expired"
  },
  /** A second process writes nothing more. */
  sample_statuses: {
    period: statusSamplePeriod,
    does: "counts the accounts of each status for the charts of 30 days, and stores counts that have changed"
  },
  /** Batches lock their rows. */
  settle_licences: {
    period: "1 minute",
    does:
      "ends trials that are over, and suspends organizations 30 days after the end of their licence by agreement; stops the protection of organizations whose licence has ended or that are suspended or closed, and restores it with the licence; after 30 days it gives up their accounts, for which a worker removes the service's 2FA password and passkey and logs the sessions out; frees the seats of unused sign-up links"
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
  /** A check by two processes is written down twice. */
  check_journals: {
    period: "10 minutes",
    does: "checks each journal's chain once a day; what it finds is in `get_status`, the log and a metric"
  },
  /** Rows that another process has locked are skipped. Only of a service whose accounts are to be watched. */
  notice_silence: {
    period: "1 minute",
    does: "sets the status of accounts to unknown that no process has looked at for 10 minutes"
  },
  /** As `notice_silence`. */
  notice_no_worker: {
    period: "15 seconds",
    does:
      "sets the status of accounts to unknown as soon as no process has polled any account for 90 seconds, although one is due; it fails until a worker watches again"
  },
  /** One process at a time. */
  sign_checkpoints: {
    period: "15 seconds",
    does: "signs the journals that are due; at the end of a process that has the database alone, all of them"
  },
  /** One job for each target; a lease keeps other processes from it. */
  push_checkpoints: {
    period: "15 seconds",
    does: "pushes signed checkpoints; there is one job for each target, whose name is at the end of the job's name"
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
    period: "5 seconds",
    does: "journals wrong passwords: the first of an admin's, a burst of them, and others once an hour"
  },
  // The next ones delete rows by their age: a second process finds nothing to delete.
  forget_password_attempts: {
    period: "10 minutes",
    does: "deletes attempts at passwords after a day"
  },
  forget_rate_limits: {
    period: "10 minutes",
    does: "deletes expired counters of requests"
  },
  forget_console_sessions: {
    period: "10 minutes",
    does: "deletes console sessions and sign-ins that have ended"
  },
  forget_browsers: {
    period: "10 minutes",
    does: "deletes browsers that were not used for 180 days"
  },
  forget_oauth: {
    period: "10 minutes",
    does: "deletes expired tokens and codes, and applications that no admin has connected"
  },
  forget_idempotency_keys: {
    period: "10 minutes",
    does: "deletes idempotency keys after a day"
  },
  forget_secrets: {
    period: "10 minutes",
    does:
      "deletes secrets that were replaced a week ago, keys of sessions that no longer exist, attempts that no longer count, and login addresses that were not confirmed"
  },
  forget_mail: {
    period: "10 minutes",
    does: "deletes the records of mails after 30 days"
  },
  forget_password_resets: {
    period: "10 minutes",
    does: "deletes the records of links to a new password after a day"
  }
} as const satisfies Record<string, Declared>

/** A place outside the database that checkpoints are pushed to. */
export interface PushTarget extends Work {
  readonly name: string
}

/** The run of each of the jobs. */
export class Upkeep extends Context.Service<
  Upkeep,
  {
    readonly [Name in keyof typeof upkeepJobs]: Name extends "push_checkpoints" ? ReadonlyArray<PushTarget> : Work
  }
>()("org-security-console/jobs/Maintenance/Upkeep") {}
