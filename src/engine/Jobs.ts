/** The list of all background work, and how often it is done. */
import { Effect, Option } from "effect"
import { statusSamplePeriod } from "../domain/Limits.ts"
import { Engine } from "./Engine.ts"
import type { Job } from "./Job.ts"
import { LoginEndings } from "./Logins.ts"
import { Upkeep } from "./Upkeep.ts"

/** The job that begins the looks at accounts. */
export const watchAccounts = "watch_accounts"

/** What watches accounts, in a process that does; that nobody does is noticed by every process of such a service. */
const watchJobs = (
  engine: Option.Option<Engine["Service"]>,
  upkeep: Upkeep["Service"],
  watched: boolean
): ReadonlyArray<Job> => [
  ...Option.match(engine, {
    onNone: () => [],
    onSome: ({ claim, closeUnwatched, pause, secure }): ReadonlyArray<Job> => [
      { name: watchAccounts, period: "3 seconds", pause, run: claim },
      { name: "secure_accounts", period: "5 seconds", run: secure },
      { name: "close_sessions", period: "1 minute", run: closeUnwatched }
    ]
  }),
  ...(watched ? [{ name: "notice_silence", period: "1 minute", run: upkeep.noticeSilence } as const] : [])
]

/** What ends logins, in a process that has the messenger. */
const loginJobs = (endings: Option.Option<LoginEndings["Service"]>): ReadonlyArray<Job> =>
  Option.match(endings, {
    onNone: () => [],
    onSome: ({ end }) => [{ name: "end_logins", period: "1 minute", run: end }]
  })

/** What looks after the stored data. */
const upkeepJobs = (upkeep: Upkeep["Service"]): ReadonlyArray<Job> => [
  {
    name: "close_abandoned_intents",
    period: "15 seconds",
    run: upkeep.closeAbandonedIntents(false),
    // The process that opened them is gone.
    atStart: upkeep.closeAbandonedIntents(true)
  },
  { name: "settle_licences", period: "1 minute", run: upkeep.settleLicences },
  { name: "expire_takeover_locks", period: "1 minute", run: upkeep.expireTakeoverLocks },
  { name: "tell_key_expiry", period: "1 minute", run: upkeep.reportKeyExpiry },
  { name: "check_journals", period: "10 minutes", run: upkeep.checkJournals },
  { name: "refresh_statuses", period: "1 minute", run: upkeep.refreshStatuses },
  { name: "sample_statuses", period: statusSamplePeriod, run: upkeep.sampleStatuses },
  {
    name: "sign_checkpoints",
    period: "15 seconds",
    run: upkeep.signCheckpoints(false),
    atEnd: upkeep.signCheckpoints(true)
  },
  ...upkeep.pushTargets.map(({ name, push }): Job => ({
    name: `push_checkpoints ${name}`,
    period: "15 seconds",
    run: push
  })),
  { name: "mail_password_resets", period: "1 second", run: upkeep.mailPasswordResets },
  { name: "send_mail", period: "1 second", run: upkeep.sendMail },
  { name: "journal_password_failures", period: "10 minutes", run: upkeep.journalPasswordFailures },
  { name: "forget_password_attempts", period: "10 minutes", run: upkeep.forgetPasswordAttempts },
  { name: "forget_rate_limits", period: "10 minutes", run: upkeep.forgetRateLimits },
  { name: "forget_console_sessions", period: "10 minutes", run: upkeep.forgetConsoleSessions },
  { name: "forget_browsers", period: "10 minutes", run: upkeep.forgetBrowsers },
  { name: "forget_oauth", period: "10 minutes", run: upkeep.forgetOAuth },
  { name: "forget_idempotency_keys", period: "10 minutes", run: upkeep.forgetIdempotencyKeys },
  { name: "forget_secrets", period: "10 minutes", run: upkeep.forgetSecrets },
  { name: "forget_mail", period: "10 minutes", run: upkeep.forgetMail },
  { name: "forget_password_resets", period: "10 minutes", run: upkeep.forgetPasswordResets }
]

/** Every job there is; `watched` says whether accounts are to be watched, as by default where this process does. */
export const jobs = (watched?: boolean): Effect.Effect<ReadonlyArray<Job>, never, Upkeep> =>
  Effect.map(
    Effect.all([Effect.serviceOption(Engine), Effect.serviceOption(LoginEndings), Upkeep]),
    ([engine, endings, upkeep]) => [
      ...watchJobs(engine, upkeep, watched ?? Option.isSome(engine)),
      ...loginJobs(endings),
      ...upkeepJobs(upkeep)
    ]
  )
