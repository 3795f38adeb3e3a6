/** The messenger profile as three operations answer it. */
import { Effect } from "effect"
import type { Caller } from "../../domain/Access.ts"
import type { AccountFacts } from "../../domain/Account.ts"
import type { Profile } from "../../domain/Messenger.ts"
import { messengerProfile, unreadSecurity } from "../../domain/MessengerProfile.ts"
import type { Live } from "../../kernel/Live.ts"
import { Accounts } from "../../ports/Accounts.ts"
import { Db } from "../../ports/Db.ts"

/** The profile with the account's security settings; what cannot be read of those is null. */
export const showProfile = Effect.fnUntraced(
  function*(profile: Profile, live: Live, account: AccountFacts, caller: Caller["Service"]) {
    const accounts = yield* Accounts
    const db = yield* Db
    const held = yield* db.transaction(
      caller.organizationId,
      accounts.heldSecrets(caller.organizationId, account.id)
    )
    const security = yield* Effect.catch(live.security(held), () => Effect.succeed(unreadSecurity(held)))
    return messengerProfile(profile, security, account)
  }
)

/** Keeps the names that the messenger has after a change. */
export const keepNames = (after: Profile, account: AccountFacts, caller: Caller["Service"]) =>
  Effect.flatMap(Accounts, (accounts) => Effect.as(accounts.setNames(caller.organizationId, account, after), {}))
