/** The common parts of the operations that secure an account on the messenger. */
import { Effect, Option, type Redacted } from "effect"
import type { AccountFacts } from "../../domain/accounts/Account.ts"
import { MessengerUnavailable, PasswordInvalid, TwoFaNotManaged, TwoFaPasswordRequired } from "../../domain/Failure.ts"
import { wrongHolderPasswordsPerHour } from "../../domain/Limits.ts"
import type { AccountSecurity } from "../../domain/messenger/Messenger.ts"
import type { Caller } from "../../domain/people/Access.ts"
import type { Facets } from "../../domain/protection/Facts.ts"
import { seenFacets } from "../../domain/protection/Signals.ts"
import {
  type Candidates,
  heldOf,
  judge,
  type PasskeyCandidate,
  type PasswordCandidate,
  takenPassword
} from "../../domain/security/Secrets.ts"
import type { GuardedContext } from "../../kernel/Context.ts"
import * as Operation from "../../kernel/Operation.ts"
import type { AccountReader, LiveWriter } from "../../messenger/AccountSession.ts"
import { SeenFacets } from "../../ports/protection/ObservedSettings.ts"
import { Attempts } from "../../ports/security/AccountAttempts.ts"
import { Secrets, type SecretsOf } from "../../ports/security/Secrets.ts"

/** The account that an operation is about, and its caller. */
export interface AccountContext {
  readonly account: AccountFacts
  readonly caller: Caller["Service"]
}

export const ofAccount = ({ account, caller }: AccountContext): SecretsOf => ({
  organizationId: caller.organizationId,
  accountId: account.id
})

/** The steps of a change without input, all of which is planned by a reading. */
export const byLook = {
  check: () => Effect.succeed(Operation.planned(null)),
  intent: () => ({ details: {} })
}

/** The secrets of an account that the service holds, and what the messenger has. */
export interface SeenSecurity {
  readonly candidates: Candidates
  readonly security: AccountSecurity
  /** The held password that is the account's. */
  readonly password: PasswordCandidate | undefined
}

/** Reads the security settings; fails where the messenger does not report whether there is a 2FA password. */
export const seeSecurity = Effect.fnUntraced(function*(live: AccountReader, context: AccountContext) {
  const secrets = yield* Secrets
  const candidates = yield* secrets.candidates(ofAccount(context))
  const security = yield* live.security(heldOf(candidates))
  if (security.two_fa_present === null) return yield* new MessengerUnavailable({})
  return { candidates, security, password: takenPassword(candidates, security) } satisfies SeenSecurity
})

/**
 * The account's 2FA password: the one that the service holds, or the one that its holder has given, which is tried;
 * null where it has none.
 */
export const passwordFor = Effect.fnUntraced(function*(
  { password, security }: SeenSecurity,
  given: Redacted.Redacted | null,
  context: AccountContext & { readonly live: Pick<LiveWriter, "checkPassword"> }
) {
  if (security.two_fa_present !== true) return null
  if (password !== undefined) return password.password
  if (given === null) return yield* new TwoFaPasswordRequired({ param: "current_password" })
  const attempts = yield* Attempts
  yield* attempts.count(ofAccount(context), "holder_password", wrongHolderPasswordsPerHour)
  if (!(yield* context.live.checkPassword(given))) return yield* new PasswordInvalid({ param: "current_password" })
  yield* attempts.takeBack(ofAccount(context), "holder_password")
  return given
})

/** The account's 2FA password, which the service holds. */
export const managedPassword = ({ password }: SeenSecurity): Effect.Effect<PasswordCandidate, TwoFaNotManaged> =>
  password === undefined ? Effect.fail(new TwoFaNotManaged({})) : Effect.succeed(password)

/** The passkey of the service's that the account has. */
export const heldPasskey = ({ candidates, security }: SeenSecurity): PasskeyCandidate | undefined =>
  candidates.passkeys.find(({ passkeyId }) => security.passkey_ids?.includes(passkeyId))

/** Puts the secrets in the places that the messenger has shown, and forgets facets that are about to change. */
export const prepare = Effect.fnUntraced(function*(
  { candidates, security }: SeenSecurity,
  facets: ReadonlyArray<keyof Facets>,
  context: GuardedContext
) {
  const secrets = yield* Secrets
  const seen = yield* SeenFacets
  yield* secrets.move(ofAccount(context), judge(candidates, security), context.now)
  yield* seen.forget(ofAccount(context), facets, context.now)
})

/** The state after a change, as far as it can be read. */
export const leftBehind = (live: AccountReader, held: Parameters<AccountReader["security"]>[0]) =>
  Effect.map(Effect.option(live.security(held)), Option.getOrUndefined)

/** Keeps what a change has left behind of the facets that it was about. */
export const keepFacets = (
  security: AccountSecurity | undefined,
  names: ReadonlyArray<keyof Facets>,
  context: AccountContext
) =>
  Effect.flatMap(SeenFacets, (seen) => {
    const facets: Facets = Object.fromEntries(
      Object.entries(seenFacets(security, undefined)).filter(([name]) => names.some((wanted) => wanted === name))
    )
    return seen.keep(ofAccount(context), facets)
  })
