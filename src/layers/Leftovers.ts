import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { Leftovers } from "../ports/Leftovers.ts"
import * as ArchiveAttempts from "./sql/archive/ArchiveAttempts.ts"
import * as ArchiveExports from "./sql/archive/ArchiveExports.ts"
import * as RateLimiter from "./sql/credentials/RateLimiter.ts"
import * as IdempotencyKeys from "./sql/IdempotencyKeys.ts"
import * as MessengerKeys from "./sql/messenger/MessengerKeys.ts"
import * as Attempts from "./sql/security/AccountAttempts.ts"
import * as AttemptCounters from "./sql/signin/AttemptCounters.ts"
import * as ConsoleSessionRecords from "./sql/signin/ConsoleSessionRecords.ts"
import * as IdentityProviders from "./sql/signin/IdentityProviders.ts"
import * as KnownBrowsers from "./sql/signin/KnownBrowsers.ts"
import * as PasswordResets from "./sql/signin/PasswordResets.ts"
import * as PendingSignInRecords from "./sql/signin/PendingSignInRecords.ts"

export const layer = Layer.effect(
  Leftovers,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const sweep = (effect: Effect.Effect<unknown, ServiceUnavailable, SqlClient.SqlClient>) =>
      Effect.asVoid(Effect.provideService(effect, SqlClient.SqlClient, sql))
    return {
      accountAttempts: sweep(Attempts.sweep),
      archiveExports: sweep(ArchiveExports.sweep),
      browsers: sweep(KnownBrowsers.sweep),
      consoleSessions: sweep(
        Effect.all([ConsoleSessionRecords.sweep, PendingSignInRecords.sweep, IdentityProviders.sweep], {
          discard: true
        })
      ),
      idempotencyKeys: sweep(IdempotencyKeys.sweep),
      messengerKeys: sweep(MessengerKeys.sweep),
      passwordAttempts: sweep(Effect.andThen(AttemptCounters.sweep, ArchiveAttempts.sweep)),
      passwordResets: sweep(PasswordResets.sweep),
      rateLimits: sweep(RateLimiter.sweep)
    }
  })
)
