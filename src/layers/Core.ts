/** Everything that the core depends on but the database's client and the messenger. */
import { Layer } from "effect"
import { ApiKeys } from "./crypto/credentials/ApiKeys.ts"
import * as OAuthSecrets from "./crypto/oauth/OAuthSecrets.ts"
import * as Randomness from "./crypto/Randomness.ts"
import { InvitationTokens, ResetTokens } from "./crypto/signin/LinkTokens.ts"
import * as Addresses from "./memory/Addresses.ts"
import * as Repositories from "./sql/Repositories.ts"

export { defaultKeyPrefix } from "../domain/Limits.ts"

export interface Options {
  /** What API keys begin with, before `_live_`. */
  readonly keyPrefix: string
}

/**
 * The ports over a `SqlClient` and a `PasswordHasher`, with the service's randomness and keys under the given
 * `Peppers`.
 */
export const layer = (options: Options) =>
  Layer.mergeAll(
    Repositories.layer,
    Addresses.layerFailedAttempts,
    Addresses.layerAnonymousRequests,
    Addresses.layerRefusedRefreshes
  ).pipe(
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
