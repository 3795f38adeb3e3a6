/** The upkeep of the stored data in SQL. */
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { JobFailure, Work } from "../../jobs/Job.ts"
import { Upkeep } from "../../jobs/Maintenance.ts"
import type { Db } from "../../ports/Db.ts"
import type { Journal } from "../../ports/journal/Journal.ts"
import type { MailSender } from "../../ports/mail/MailSender.ts"
import type { Outbox } from "../../ports/mail/Outbox.ts"
import type { PasswordResets } from "../../ports/signin/PasswordResets.ts"
import type { CheckpointKeys } from "../crypto/journal/CheckpointKeys.ts"
import type { Vault } from "../crypto/Vault.ts"
import * as ProviderSignIn from "../identity/ProviderSignIn.ts"
import * as Smtp from "../mail/Smtp.ts"
import { Targets } from "../push/Targets.ts"
import * as AccountStatuses from "./accounts/AccountStatuses.ts"
import * as StatusSamples from "./accounts/StatusSamples.ts"
import * as KeyExpiry from "./credentials/KeyExpiry.ts"
import * as RateLimiter from "./credentials/RateLimiter.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as ChainCheck from "./journal/ChainCheck.ts"
import * as CheckpointPush from "./journal/CheckpointPush.ts"
import type { LastCheckpoint } from "./journal/LastCheckpoint.ts"
import * as PendingChanges from "./journal/PendingChanges.ts"
import * as Signing from "./journal/Signing.ts"
import * as MailQueue from "./mail/MailQueue.ts"
import * as MessengerKeys from "./messenger/MessengerKeys.ts"
import * as OAuthSweep from "./oauth/OAuthSweep.ts"
import * as LicenceEnds from "./organization/LicenceEnds.ts"
import * as Licences from "./organization/Licences.ts"
import * as LicenceStops from "./organization/LicenceStops.ts"
import * as Silence from "./protection/Silence.ts"
import * as TakeoverLocks from "./protection/TakeoverLocks.ts"
import * as SecretsSweep from "./security/SecretsSweep.ts"
import * as ConsoleSessions from "./signin/ConsoleSessions.ts"
import * as ForgottenPasswords from "./signin/ForgottenPasswords.ts"
import * as KnownBrowsers from "./signin/KnownBrowsers.ts"
import * as PasswordFailures from "./signin/PasswordFailures.ts"
import * as PasswordThrottle from "./signin/PasswordThrottle.ts"
import * as SignIns from "./signin/SignIns.ts"

type Services =
  | SqlClient.SqlClient
  | Effect.Services<typeof LicenceEnds.endLicences>
  | Effect.Services<typeof LicenceEnds.leaveAccounts>
  | Db
  | Journal
  | CheckpointKeys
  | LastCheckpoint
  | MailSender
  | Outbox
  | PasswordResets
  | SecureRandom.SecureRandom
  | Vault

/** Pushes to the `Targets`, and sends by the `MailSender`. */
const layerWith = Layer.effect(
  Upkeep,
  Effect.gen(function*() {
    const services = yield* Effect.context<Services>()
    const within = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.provideContext(effect, services)
    const work = <A>(run: Effect.Effect<A, JobFailure, Services>): Work => ({ run: within(run) })
    const targets = yield* Effect.forEach(
      yield* Targets,
      (target) => Effect.map(CheckpointPush.turns(target), (push) => ({ name: target.name, ...work(push) }))
    )
    return {
      close_abandoned_intents: {
        run: within(PendingChanges.closeAbandoned(false)),
        // The process that opened them is gone.
        atStart: within(PendingChanges.closeAbandoned(true))
      },
      refresh_statuses: work(AccountStatuses.refresh),
      sample_statuses: work(StatusSamples.take),
      notice_silence: work(Silence.notice),
      notice_no_worker: work(yield* Silence.noticeNoWorker),
      settle_licences: work(
        Effect.all([
          LicenceEnds.endLicences,
          LicenceStops.applyLicences,
          LicenceEnds.leaveAccounts,
          Licences.expireLinks
        ], {
          discard: true
        })
      ),
      expire_takeover_locks: work(TakeoverLocks.expire),
      tell_key_expiry: work(KeyExpiry.reportExpiry),
      check_journals: work(yield* ChainCheck.turns),
      sign_checkpoints: { run: within(yield* Signing.turns), atEnd: within(Signing.sign(true)) },
      push_checkpoints: targets,
      mail_password_resets: work(ForgottenPasswords.mailRequested),
      send_mail: work(yield* MailQueue.turns),
      journal_password_failures: work(PasswordFailures.sweep),
      forget_password_attempts: work(PasswordThrottle.sweep),
      forget_rate_limits: work(RateLimiter.sweep),
      forget_console_sessions: work(
        Effect.all([ConsoleSessions.sweep, SignIns.sweep, ProviderSignIn.sweep], { discard: true })
      ),
      forget_browsers: work(KnownBrowsers.sweep),
      forget_oauth: work(OAuthSweep.sweep),
      forget_idempotency_keys: work(IdempotencyKeys.sweep),
      forget_mail: work(MailQueue.sweep),
      forget_secrets: work(Effect.andThen(SecretsSweep.sweep, MessengerKeys.sweep)),
      forget_password_resets: work(ForgottenPasswords.sweep)
    }
  })
)

/** Sends mail by SMTP, where it is set up. */
export const layer = Layer.provide(layerWith, Smtp.layer)
