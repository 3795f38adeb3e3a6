/** The list of all background work, and the service that does it. */
import { Context, Effect, Layer, Option, Record, Struct } from "effect"
import { Capture } from "../capture/Capture.ts"
import { LoginEndings } from "../protection/LoginEndings.ts"
import { Engine } from "../protection/PollLoop.ts"
import { refreshStatuses } from "./accounts/refresh_statuses.ts"
import { sampleStatuses } from "./accounts/sample_statuses.ts"
import { applyArchiveRetention } from "./archive/apply_archive_retention.ts"
import { captureArchives } from "./archive/capture_archives.ts"
import { closeArchiveDays } from "./archive/close_archive_days.ts"
import { collectBlobs } from "./archive/collect_blobs.ts"
import { deleteArchives } from "./archive/delete_archives.ts"
import { forgetArchiveExports } from "./archive/forget_archive_exports.ts"
import { journalArchiveReads } from "./archive/journal_archive_reads.ts"
import { judgeArchivedChats } from "./archive/judge_archived_chats.ts"
import { makeArchiveManifests } from "./archive/make_archive_manifests.ts"
import { runArchiveCleanups } from "./archive/run_archive_cleanups.ts"
import { settleArchivePhases } from "./archive/settle_archive_phases.ts"
import { sumArchiveStorage } from "./archive/sum_archive_storage.ts"
import { forgetIdempotencyKeys } from "./credentials/forget_idempotency_keys.ts"
import { forgetRateLimits } from "./credentials/forget_rate_limits.ts"
import { tellKeyExpiry } from "./credentials/tell_key_expiry.ts"
import type { Declaration, Declared, Job, PushTarget, Work } from "./Job.ts"
import { checkJournals } from "./journal/check_journals.ts"
import { closeAbandonedIntents } from "./journal/close_abandoned_intents.ts"
import { pushCheckpoints } from "./journal/push_checkpoints.ts"
import { signCheckpoints } from "./journal/sign_checkpoints.ts"
import { endLogins } from "./logins/end_logins.ts"
import { forgetMail } from "./mail/forget_mail.ts"
import { sendMail } from "./mail/send_mail.ts"
import { forgetOAuth } from "./oauth/forget_oauth.ts"
import { settleLicences } from "./organization/settle_licences.ts"
import { closeSessions } from "./protection/close_sessions.ts"
import { expireTakeoverLocks } from "./protection/expire_takeover_locks.ts"
import { noticeNoWorker } from "./protection/notice_no_worker.ts"
import { noticeSilence } from "./protection/notice_silence.ts"
import { secureAccounts } from "./protection/secure_accounts.ts"
import { watchAccounts } from "./protection/watch_accounts.ts"
import { forgetSecrets } from "./security/forget_secrets.ts"
import { forgetBrowsers } from "./signin/forget_browsers.ts"
import { forgetConsoleSessions } from "./signin/forget_console_sessions.ts"
import { forgetPasswordAttempts } from "./signin/forget_password_attempts.ts"
import { forgetPasswordResets } from "./signin/forget_password_resets.ts"
import { journalPasswordFailures } from "./signin/journal_password_failures.ts"
import { mailPasswordResets } from "./signin/mail_password_resets.ts"

export type { PushTarget }

/** The jobs on the stored data, by their names. */
export const upkeepJobs = {
  close_abandoned_intents: closeAbandonedIntents,
  refresh_statuses: refreshStatuses,
  sample_statuses: sampleStatuses,
  settle_licences: settleLicences,
  expire_takeover_locks: expireTakeoverLocks,
  tell_key_expiry: tellKeyExpiry,
  check_journals: checkJournals,
  notice_silence: noticeSilence,
  notice_no_worker: noticeNoWorker,
  sign_checkpoints: signCheckpoints,
  push_checkpoints: pushCheckpoints,
  mail_password_resets: mailPasswordResets,
  send_mail: sendMail,
  journal_password_failures: journalPasswordFailures,
  journal_archive_reads: journalArchiveReads,
  collect_blobs: collectBlobs,
  delete_archives: deleteArchives,
  judge_archived_chats: judgeArchivedChats,
  run_archive_cleanups: runArchiveCleanups,
  apply_archive_retention: applyArchiveRetention,
  settle_archive_phases: settleArchivePhases,
  sum_archive_storage: sumArchiveStorage,
  make_archive_manifests: makeArchiveManifests,
  forget_password_attempts: forgetPasswordAttempts,
  forget_rate_limits: forgetRateLimits,
  forget_console_sessions: forgetConsoleSessions,
  forget_browsers: forgetBrowsers,
  forget_oauth: forgetOAuth,
  forget_idempotency_keys: forgetIdempotencyKeys,
  forget_secrets: forgetSecrets,
  forget_mail: forgetMail,
  forget_archive_exports: forgetArchiveExports,
  forget_password_resets: forgetPasswordResets
}

/** The run of each of these jobs. */
export class Upkeep extends Context.Service<
  Upkeep,
  { readonly [Name in keyof typeof upkeepJobs]: Effect.Success<(typeof upkeepJobs)[Name]["start"]> }
>()("org-security-console/jobs/Jobs/Upkeep") {
  /** Runs them over the ports. */
  static readonly layer = Layer.effect(
    Upkeep,
    Effect.all({
      ...Record.map(Struct.omit(upkeepJobs, ["push_checkpoints"]), ({ start }) => start),
      push_checkpoints: pushCheckpoints.start
    })
  )
}

/** The jobs of a process that has the messenger. */
const engineJobs = [watchAccounts, secureAccounts, closeSessions]
const loginJobs = [endLogins]
const captureJobs = [captureArchives, closeArchiveDays]

/** The jobs of a service whose accounts are to be watched, by this process or by another one. */
const aboutWorkers: ReadonlyArray<string> = [noticeSilence.name, noticeNoWorker.name]

/** A job as the documents list it. */
export interface Documented extends Declared {
  readonly name: string
  /** True if it is done in a process with the role `worker` alone. */
  readonly worker: boolean
}

/** Every job that there is. */
export const documented: ReadonlyArray<Documented> = [
  ...[...engineJobs, ...loginJobs, ...captureJobs].map((job) => ({ ...job, worker: true })),
  ...Object.values(upkeepJobs).map((job) => ({ ...job, worker: false }))
]

const named = (
  { name, period }: Pick<Job, "name" | "period">,
  work: Work | ReadonlyArray<PushTarget>
): ReadonlyArray<Job> =>
  "run" in work
    ? [{ name, period, ...work }]
    : work.map((target) => ({ ...target, name: `${name} ${target.name}`, period }))

/** The jobs of a service, where this process has it. */
const withService = <Id, Service>(key: Context.Key<Id, Service>, all: ReadonlyArray<Declaration<Id>>) =>
  Effect.flatMap(
    Effect.serviceOption(key),
    Option.match({
      onNone: () => Effect.succeed([]),
      onSome: (service) =>
        Effect.forEach(all, (job) => Effect.map(job.start, (work) => named(job, work))).pipe(
          Effect.map((jobs) => jobs.flat()),
          Effect.provideService(key, service)
        )
    })
  )

/**
 * Every job of this process; `watched` says whether accounts are to be watched, as by default where this process does.
 */
export const jobs = Effect.fnUntraced(function*(watched?: boolean) {
  const watching = yield* withService(Engine, engineJobs)
  const upkeep = yield* Upkeep
  return [
    ...watching,
    ...(yield* withService(LoginEndings, loginJobs)),
    ...(yield* withService(Capture, captureJobs)),
    ...Struct.keys(upkeepJobs)
      // That nobody watches is noticed by every process of a service whose accounts are to be watched.
      .filter((name) => !aboutWorkers.includes(name) || (watched ?? watching.length > 0))
      .flatMap((name) => named(upkeepJobs[name], upkeep[name]))
  ]
})
