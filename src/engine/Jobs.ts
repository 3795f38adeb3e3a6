/** The list of all background work, and how often it is done. */
import { Effect, Option } from "effect"
import { Engine } from "./Engine.ts"
import type { Job } from "./Job.ts"
import { Upkeep } from "./Upkeep.ts"

/** What watches accounts, in a process that does. */
const watchJobs = (engine: Option.Option<Engine["Service"]>, upkeep: Upkeep["Service"]): ReadonlyArray<Job> =>
  Option.match(engine, {
    onNone: () => [],
    onSome: ({ claim }) => [
      { name: "watch_accounts", period: "1 second", run: claim },
      { name: "notice_silence", period: "1 minute", run: upkeep.noticeSilence }
    ]
  })

/** What looks after the stored data. */
const upkeepJobs = (upkeep: Upkeep["Service"]): ReadonlyArray<Job> => [
  {
    name: "close_abandoned_intents",
    period: "15 seconds",
    run: upkeep.closeAbandonedIntents(false),
    // Whoever opened them is gone.
    atStart: upkeep.closeAbandonedIntents(true)
  },
  { name: "refresh_statuses", period: "1 minute", run: upkeep.refreshStatuses },
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
  { name: "send_mail", period: "1 second", run: upkeep.sendMail },
  { name: "journal_password_failures", period: "10 minutes", run: upkeep.journalPasswordFailures },
  { name: "forget_password_attempts", period: "10 minutes", run: upkeep.forgetPasswordAttempts },
  { name: "forget_rate_limits", period: "10 minutes", run: upkeep.forgetRateLimits },
  { name: "forget_console_sessions", period: "10 minutes", run: upkeep.forgetConsoleSessions },
  { name: "forget_browsers", period: "10 minutes", run: upkeep.forgetBrowsers },
  { name: "forget_oauth", period: "10 minutes", run: upkeep.forgetOAuth },
  { name: "forget_idempotency_keys", period: "10 minutes", run: upkeep.forgetIdempotencyKeys },
  { name: "forget_mail", period: "10 minutes", run: upkeep.forgetMail }
]

/** Every job there is. */
export const jobs: Effect.Effect<ReadonlyArray<Job>, never, Upkeep> = Effect.zipWith(
  Effect.serviceOption(Engine),
  Upkeep,
  (engine, upkeep) => [...watchJobs(engine, upkeep), ...upkeepJobs(upkeep)]
)
