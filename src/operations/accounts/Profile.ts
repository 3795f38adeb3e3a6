/** The messenger profile as three operations answer it. */
import { Clock, Effect } from "effect"
import type { AccountFacts } from "../../domain/accounts/Account.ts"
import { messengerProfile, unreadSecurity } from "../../domain/accounts/MessengerProfile.ts"
import type { Profile } from "../../domain/messenger/Messenger.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { canSignOut, earliest } from "../../domain/protection/Deadline.ts"
import { heldOf } from "../../domain/security/Secrets.ts"
import type { AccountReader } from "../../messenger/AccountSession.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Secrets } from "../../ports/security/Secrets.ts"

/**
 * The time when a passkey can be added, through whichever of the service's sessions is allowed to first; null for now.
 */
const passkeyFrom = (asked: Date | null, { enforcement_active_at }: AccountFacts, now: Date): Date | null =>
  asked === null || canSignOut(enforcement_active_at, now) ? null : earliest([asked, enforcement_active_at])

/** The profile with the account's security settings; what cannot be read of those is null. */
export const showProfile = (profile: Profile, live: AccountReader, account: AccountFacts, caller: Caller["Service"]) =>
  Effect.gen(function*() {
    const secrets = yield* Secrets
    const candidates = yield* secrets.candidates({ organizationId: caller.organizationId, accountId: account.id })
    const held = heldOf(candidates)
    const security = yield* Effect.catch(live.security(held), () => Effect.succeed(unreadSecurity(held)))
    // A password that may have been set, or was taken before, is not known without asking.
    const managed = security.two_fa_present === null
      ? { ...security, two_fa_managed: candidates.passwords.some(({ slot }) => slot === "held") }
      : security
    const now = new Date(yield* Clock.currentTimeMillis)
    const passkey_eligible_at = passkeyFrom(managed.passkey_eligible_at, account, now)
    return messengerProfile(profile, { ...managed, passkey_eligible_at }, account)
  })

/** Keeps the names that the messenger has after a change. */
export const keepNames = (after: Profile, account: AccountFacts, caller: Caller["Service"]) =>
  Effect.flatMap(Accounts, (accounts) => Effect.as(accounts.setNames(caller.organizationId, account, after), {}))
