/** The upkeep of the stored data in SQL. */
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { MailSender } from "../../engine/MailSender.ts"
import { Upkeep } from "../../engine/Upkeep.ts"
import type { Db } from "../../ports/Db.ts"
import type { Journal } from "../../ports/Journal.ts"
import type { Outbox } from "../../ports/Outbox.ts"
import type { CheckpointKeys } from "../crypto/CheckpointKeys.ts"
import type { Vault } from "../crypto/Vault.ts"
import * as Smtp from "../mail/Smtp.ts"
import { Targets } from "../push/Targets.ts"
import * as AccountStatuses from "./AccountStatuses.ts"
import * as CheckpointPush from "./CheckpointPush.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as ConsoleSessions from "./ConsoleSessions.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as KnownBrowsers from "./KnownBrowsers.ts"
import type { LastCheckpoint } from "./LastCheckpoint.ts"
import * as MailQueue from "./MailQueue.ts"
import * as OAuthSweep from "./OAuthSweep.ts"
import * as PasswordFailures from "./PasswordFailures.ts"
import * as PasswordThrottle from "./PasswordThrottle.ts"
import * as PendingChanges from "./PendingChanges.ts"
import * as RateLimiter from "./RateLimiter.ts"
import * as Silence from "./Silence.ts"

type Services =
  | SqlClient.SqlClient
  | Db
  | Journal
  | CheckpointKeys
  | LastCheckpoint
  | MailSender
  | Outbox
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
    return {
      closeAbandonedIntents: (all) => within(PendingChanges.closeAbandoned(all)),
      refreshStatuses: within(AccountStatuses.refresh),
      noticeSilence: within(Silence.notice),
      signCheckpoints: (all) => within(Checkpoints.sign(all)),
      pushTargets,
      sendMail: within(sendMail),
      journalPasswordFailures: within(PasswordFailures.sweep),
      forgetPasswordAttempts: within(PasswordThrottle.sweep),
      forgetRateLimits: within(RateLimiter.sweep),
      forgetConsoleSessions: within(ConsoleSessions.sweep),
      forgetBrowsers: within(KnownBrowsers.sweep),
      forgetOAuth: within(OAuthSweep.sweep),
      forgetIdempotencyKeys: within(IdempotencyKeys.sweep),
      forgetMail: within(MailQueue.sweep)
    }
  })
)

/** Sends mail by SMTP, where it is set up. */
export const layer = Layer.provide(layerWith, Smtp.layer)
