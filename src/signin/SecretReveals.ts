/** The 2FA passwords that the service holds, as owners and superadmins read them at the console. */
import { Clock, Effect, type Redacted } from "effect"
import type { AccountFacts, AccountId } from "../domain/accounts/Account.ts"
import { ResourceMissing, SuperadminRequired } from "../domain/Failure.ts"
import * as Actor from "../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import { Caller, superadmins } from "../domain/people/Access.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { Secrets } from "../ports/security/Secrets.ts"
import { ConsolePasswords } from "../ports/signin/ConsolePasswords.ts"

const accountsListed = 500

/** The roles that may read passwords: an admin sets them and does not read them. */
const allowed = Effect.gen(function*() {
  const caller = yield* Caller
  return superadmins.includes(caller.role) ? caller : yield* new SuperadminRequired({})
})

/** The accounts whose password is held, those first that are offboarded. */
export const list = Effect.gen(function*() {
  const db = yield* Db
  const secrets = yield* Secrets
  const { organizationId } = yield* allowed
  return yield* db.read(organizationId, secrets.list(organizationId, accountsListed))
})

/** The account, and whether its password is held. */
export const find = Effect.fnUntraced(function*(id: AccountId) {
  const accounts = yield* Accounts
  const db = yield* Db
  const secrets = yield* Secrets
  const caller = yield* allowed
  const { organizationId } = caller
  const account = yield* db.read(organizationId, accounts.find(caller, id, false))
  if (account === null) return yield* new ResourceMissing({ param: "account_id" })
  const { passwords } = yield* secrets.candidates({ organizationId, accountId: id })
  return { account, held: passwords.some(({ slot }) => slot === "held") }
})

export interface RevealedSecret {
  readonly account: AccountFacts
  readonly password: Redacted.Redacted
}

/** Returns the password after the admin has entered the console password again; the reveal is journaled first. */
export const reveal = Effect.fnUntraced(function*(id: AccountId, console: Redacted.Redacted) {
  const accounts = yield* Accounts
  const db = yield* Db
  const journal = yield* Journal
  const passwords = yield* ConsolePasswords
  const secrets = yield* Secrets
  const caller = yield* allowed
  const { organizationId } = caller
  yield* passwords.verify(caller, console, caller)
  const of = { organizationId, accountId: id }
  const [held] = (yield* secrets.candidates(of)).passwords
  const now = new Date(yield* Clock.currentTimeMillis)
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const account = yield* accounts.find(caller, id, true)
      // It may have been replaced since it was read.
      if (account === null || held === undefined || !(yield* secrets.shown(of, held.id, now))) {
        return yield* new ResourceMissing({ param: "account_id" })
      }
      yield* journal.append(
        organizationId,
        journalEntry(Actor.caller(caller), caller, journalAction("two_fa.revealed"), {
          targetId: id,
          accountId: id
        })
      )
      return { account, password: held.password } satisfies RevealedSecret
    })
  )
})
