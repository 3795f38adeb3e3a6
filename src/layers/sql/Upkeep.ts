/** The upkeep of the stored data in SQL. */
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { MailSender } from "../../engine/MailSender.ts"
import { Upkeep } from "../../engine/Upkeep.ts"
import type { Db } from "../../ports/Db.ts"
import type { Journal } from "../../ports/Journal.ts"
import type { Outbox } from "../../ports/Outbox.ts"
import type { PasswordResets } from "../../ports/PasswordResets.ts"
import type { CheckpointKeys } from "../crypto/CheckpointKeys.ts"
import type { Vault } from "../crypto/Vault.ts"
import * as ProviderSignIn from "../identity/ProviderSignIn.ts"
import * as Smtp from "../mail/Smtp.ts"
import { Targets } from "../push/Targets.ts"
import * as AccountStatuses from "./AccountStatuses.ts"
import * as ChainCheck from "./ChainCheck.ts"
import * as CheckpointPush from "./CheckpointPush.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as ConsoleSessions from "./ConsoleSessions.ts"
import * as ForgottenPasswords from "./ForgottenPasswords.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as KeyExpiry from "./KeyExpiry.ts"
import * as KnownBrowsers from "./KnownBrowsers.ts"
import type { LastCheckpoint } from "./LastCheckpoint.ts"
import * as LicenceEnds from "./LicenceEnds.ts"
import * as Licences from "./Licences.ts"
import * as LicenceStops from "./LicenceStops.ts"
import * as MailQueue from "./MailQueue.ts"
import * as MessengerKeys from "./MessengerKeys.ts"
import * as OAuthSweep from "./OAuthSweep.ts"
import * as PasswordFailures from "./PasswordFailures.ts"
import * as PasswordThrottle from "./PasswordThrottle.ts"
import * as PendingChanges from "./PendingChanges.ts"
import * as RateLimiter from "./RateLimiter.ts"
import * as SecretsSweep from "./SecretsSweep.ts"
import * as SignIns from "./SignIns.ts"
import * as Silence from "./Silence.ts"
import * as StatusSamples from "./StatusSamples.ts"
import * as TakeoverLocks from "./TakeoverLocks.ts"

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
    const pushTargets = yield* Effect.forEach(
      yield* Targets,
      (target) => Effect.map(CheckpointPush.turns(target), (push) => ({ name: target.name, push: within(push) }))
    )
    const sendMail = yield* MailQueue.turns
    const checkJournals = yield* ChainCheck.turns
    return {
      closeAbandonedIntents: (all) => within(PendingChanges.closeAbandoned(all)),
      refreshStatuses: within(AccountStatuses.refresh),
      sampleStatuses: within(StatusSamples.take),
      noticeSilence: within(Silence.notice),
      settleLicences: within(
        Effect.all([
          LicenceEnds.endLicences,
          LicenceStops.applyLicences,
          LicenceEnds.leaveAccounts,
          Licences.expireLinks
        ], {
          discard: true
        })
      ),
      expireTakeoverLocks: within(TakeoverLocks.expire),
      reportKeyExpiry: within(KeyExpiry.reportExpiry),
      checkJournals: within(checkJournals),
      signCheckpoints: (all) => within(Checkpoints.sign(all)),
      pushTargets,
      mailPasswordResets: within(ForgottenPasswords.mailRequested),
      sendMail: within(sendMail),
      journalPasswordFailures: within(PasswordFailures.sweep),
      forgetPasswordAttempts: within(PasswordThrottle.sweep),
      forgetRateLimits: within(RateLimiter.sweep),
      forgetConsoleSessions: within(
        Effect.all([ConsoleSessions.sweep, SignIns.sweep, ProviderSignIn.sweep], { discard: true })
      ),
      forgetBrowsers: within(KnownBrowsers.sweep),
      forgetOAuth: within(OAuthSweep.sweep),
      forgetIdempotencyKeys: within(IdempotencyKeys.sweep),
      forgetMail: within(MailQueue.sweep),
      forgetSecrets: within(Effect.andThen(SecretsSweep.sweep, MessengerKeys.sweep)),
      forgetPasswordResets: within(ForgottenPasswords.sweep)
    }
  })
)

/** Sends mail by SMTP, where it is set up. */
export const layer = Layer.provide(layerWith, Smtp.layer)
