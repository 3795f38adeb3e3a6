/** Operations that read an account on the messenger. */
import { Clock, Effect } from "effect"
import { slotOf } from "../../domain/accounts/Slot.ts"
import { SessionRef } from "../../domain/messenger/Messenger.ts"
import { Caller } from "../../domain/people/Access.ts"
import * as Live from "../../messenger/AccountSession.ts"
import { Db } from "../../ports/Db.ts"
import type { RequestContext } from "../Context.ts"
import type { Work } from "../Contract.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Loads the account in a transaction of its own, and opens its session for as long as the operation runs. */
const open = Effect.fnUntraced(function*(resolve: Resolve, input: Targeting) {
  const caller = yield* Caller
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const account = yield* db.read(caller.organizationId, resolve(caller, input, false))
  const live = yield* Live.open(
    account === undefined || account.session_ref === null ? null : SessionRef.make(account.session_ref),
    account === undefined ? undefined : slotOf(account.id)
  )
  return { caller, now, account, live }
})

/** Reads the messenger. */
export const runLive = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  run: (input: I, context: RequestContext & { readonly live: Live.AccountReader }) => Effect.Effect<A, E, R>
) =>
  Effect.fnUntraced(function*(input: I) {
    return yield* run(input, yield* open(resolve, input))
  }, Effect.scoped) satisfies Work<"live", R>
