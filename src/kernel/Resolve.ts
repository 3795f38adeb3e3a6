/** The object that an operation's path names, as far as the caller may see it. */
import { Context, Effect } from "effect"
import type { AccountFacts, AccountId } from "../domain/accounts/Account.ts"
import { ResourceMissing } from "../domain/Failure.ts"
import type { Caller } from "../domain/people/Access.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"

/** An input that may name an account. */
export interface Targeting {
  readonly account_id?: AccountId
}

/** Loads the account that the input names, where the operation is about one; locked for the transaction when asked. */
export type Resolve = (
  caller: Caller["Service"],
  input: Targeting,
  lock: boolean
) => Effect.Effect<AccountFacts | undefined, ResourceMissing, Accounts>

type Find = (caller: Caller["Service"], id: AccountId, lock: boolean) => ReturnType<Accounts["Service"]["find"]>

const missing = () => Effect.fail(new ResourceMissing({ param: "account_id" }))

const findFacts: Find = (caller, id, lock) =>
  Effect.withFiber(({ context }) => Context.getUnsafe(context, Accounts).find(caller, id, lock))

/**
 * Finds the account of an operation with these members in its path.
 *
 * An account that does not exist and one that the caller cannot access fail alike.
 */
export const resolve = (params: object, find = findFacts): Resolve =>
  "account_id" in params
    ? (caller, { account_id }, lock) =>
      account_id === undefined
        ? missing()
        : Effect.flatMap(
          find(caller, account_id, lock),
          (account) => account === null ? missing() : Effect.succeed(account)
        )
    : () => Effect.succeed(undefined)
