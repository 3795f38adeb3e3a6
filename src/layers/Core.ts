/** Everything that the core depends on but the database's client and the messenger. */
import { Layer } from "effect"
import * as ArchiveWriter from "../archive/Writer.ts"
import * as ConsolePasswords from "../signin/ConsolePasswords.ts"
import * as DerivationTurns from "./archive/DerivationTurns.ts"
import * as ExportTurns from "./archive/ExportTurns.ts"
import * as NodeCrypto from "./archive/NodeCrypto.ts"
import * as NodeDigest from "./archive/NodeDigest.ts"
import * as SearchThreads from "./archive/SearchThreads.ts"
import * as SearchTurns from "./archive/SearchTurns.ts"
import * as Unlocks from "./archive/Unlocks.ts"
import * as VerificationTurns from "./archive/VerificationTurns.ts"
import { ApiKeys } from "./crypto/credentials/ApiKeys.ts"
import * as OAuthSecrets from "./crypto/oauth/OAuthSecrets.ts"
import * as Randomness from "./crypto/Randomness.ts"
import { InvitationTokens, ResetTokens } from "./crypto/signin/LinkTokens.ts"
import * as PasswordRule from "./crypto/signin/PasswordRule.ts"
import * as SignInSecrets from "./crypto/signin/SignInSecrets.ts"
import * as Addresses from "./memory/Addresses.ts"
import * as Repositories from "./sql/Repositories.ts"

export { defaultKeyPrefix } from "../domain/Limits.ts"

export interface Options {
  /** The beginning of API keys, before `_live_`. */
  readonly keyPrefix: string
}

/** The archive's opened keys, and what they are made by. */
const archive = Layer.mergeAll(
  Unlocks.layer,
  ArchiveWriter.layer,
  ExportTurns.layer,
  SearchThreads.layer,
  SearchTurns.layer,
  VerificationTurns.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(NodeCrypto.layer, NodeDigest.layer, DerivationTurns.layer))
)

/**
 * The ports over a `SqlClient`, a `BlobStore`, a `PasswordHasher` and a `PasswordDerivation`, with the service's
 * randomness and keys under the given `Peppers`.
 */
export const layer = (options: Options) =>
  Layer.mergeAll(
    archive,
    ConsolePasswords.layer,
    Addresses.layerFailedAttempts,
    Addresses.layerAnonymousRequests,
    Addresses.layerRefusedRefreshes
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(PasswordRule.layer, SignInSecrets.layer)),
    Layer.provideMerge(Repositories.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        ApiKeys.layer(options.keyPrefix),
        OAuthSecrets.layer(options.keyPrefix),
        InvitationTokens.layer,
        ResetTokens.layer
      )
    ),
    Layer.provideMerge(Randomness.layer)
  )
