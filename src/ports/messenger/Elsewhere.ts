/** Operations on accounts that another process watches: they run there, where the account's session is. */
import { Context, Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { MessengerUnavailable } from "../../domain/messenger/MessengerFailures.ts"
import type { Caller } from "../../domain/people/Access.ts"

/** A request that was admitted here. */
export interface ForwardedRequest {
  /** The operation's id. */
  readonly operation: string
  readonly accountId: AccountId
  readonly caller: Caller["Service"]
  /** The input as it came in, not decoded. */
  readonly input: unknown
}

/** The end of an operation in another process. */
export type ForwardedReply =
  | {
    readonly _tag: "Answered"
    /** The answer's JSON. */
    readonly text: string
    /** True if it is the stored answer to an earlier request. */
    readonly replayed: boolean
  }
  | { readonly _tag: "Failed"; readonly code: string; readonly members: Readonly<Record<string, unknown>> }
  | { readonly _tag: "Died" }

/**
 * Runs the operation where the account is watched; null where that is this process, or no process could be asked: then
 * nothing was done, and it runs here. Where it is not known what was done, the messenger counts as unavailable.
 */
export const Elsewhere = Context.Reference<
  (request: ForwardedRequest) => Effect.Effect<ForwardedReply | null, MessengerUnavailable>
>("org-security-console/ports/messenger/Elsewhere", {
  defaultValue: () => () => Effect.succeed(null)
})
