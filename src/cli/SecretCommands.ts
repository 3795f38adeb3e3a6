/** The commands about the secrets that the service holds. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { common, run } from "./Commands.ts"
import * as Output from "./Output.ts"

const rewrap = Command.make("rewrap", common, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) => requests.rewrap_secrets({}))
    yield* Output.print(input.json, answer, () => [
      Object.values(answer).every((count) => count === 0)
        ? "Everything that is sealed is sealed under the first pepper."
        : `Sealed anew: the keys of ${answer.accounts} accounts and ${answer.sessions} sessions on the messenger, ` +
          `the secrets of ${answer.authenticator_apps} authenticator apps and ${answer.identity_providers} identity providers.`
    ])
  })).pipe(
    Command.withDescription(
      "Seal the secrets that are kept anew under the first pepper, so that an old one can be dropped"
    )
  )

/** What is done with secrets. */
export const secrets = Command.make("secrets").pipe(Command.withSubcommands([rewrap]))
