/** The objects of operations in their journal entries. */
import type { Target } from "../changes/Record.ts"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import type { JournalAction } from "../domain/journal/JournalEntry.ts"
import type { Caller } from "../domain/people/Access.ts"

interface Context {
  readonly caller: Caller["Service"]
  readonly account: AccountFacts | undefined
}

/** The object of what the caller did: the one that is given, or else what the path or the caller names. */
export const targetOf = (
  { target }: JournalAction,
  { account, caller }: Context,
  given: string | Target | undefined
): Target =>
  typeof given === "object" ? given : {
    id: given ?? (target === "account" && account !== undefined
      ? account.id
      : target === "admin"
      ? caller.adminId
      : caller.organizationId),
    accountId: account?.id
  }
