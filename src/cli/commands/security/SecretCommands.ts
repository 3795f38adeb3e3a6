/** The commands about the secrets that the service holds. */
import { Command } from "effect/cli"
import type { RewrapCounts } from "../../../ports/security/Rewrap.ts"
import { asking, sending } from "../OperatorCommand.ts"

const listed = (counts: RewrapCounts) =>
  `the keys of ${counts.accounts} accounts and ${counts.sessions} sessions on the messenger, the secrets of ` +
  `${counts.authenticator_apps} authenticator apps and ${counts.identity_providers} identity providers, and the proofs of ` +
  `${counts.archive_keys} archive keys.`

const none = (counts: RewrapCounts) => Object.values(counts).every((count) => count === 0)

const rewrap = Command.make(
  "rewrap",
  asking({}),
  sending((requests) => requests.secrets_rewrap({}), ({ damaged, skipped, ...done }) => [
    ...(none(done) && none(skipped) && none(damaged)
      ? ["Everything that is sealed is sealed under the first pepper."]
      : []),
    ...(none(done) ? [] : [`Sealed anew: ${listed(done)}`]),
    ...(none(skipped) ? [] : [`Left as they are, because their pepper is not given: ${listed(skipped)}`]),
    ...(none(damaged)
      ? []
      : [`Left as they are, because they were changed or sealed for something else: ${listed(damaged)}`])
  ])
).pipe(
  Command.withDescription(
    "Seal the secrets that are kept anew under the first pepper, so that an old one can be dropped"
  )
)

export const secrets = Command.make("secrets").pipe(Command.withSubcommands([rewrap]))
