/**
 * The end of all that goes with the protection of an account: its work that waits, its place among people, and the
 * service's sessions.
 */
import { Duration, Effect } from "effect"
import type { FurtherEntry } from "../../changes/Record.ts"
import { slotOf } from "../../domain/accounts/Slot.ts"
import { cancelled } from "../../domain/logins/Login.ts"
import { after } from "../../domain/Moments.ts"
import * as Live from "../../messenger/AccountSession.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import { Logins } from "../../ports/logins/Logins.ts"
import { AccountTasks } from "../../ports/protection/AccountTasks.ts"
import { ServiceSessions } from "../../ports/protection/ServiceSessions.ts"
import { before, logOutUntil } from "./Releasing.ts"
import { type AccountContext, ofAccount } from "./Securing.ts"

/** The time after it was offboarded when what is left is tried again. */
const again = Duration.minutes(1)

/** Ends the logins into the account, and journals each; what they leave on the messenger is removed soon. */
const endLogins = Effect.fnUntraced(function*({ account, caller }: AccountContext, now: Date) {
  const logins = yield* Logins
  const open = yield* logins.open(caller.organizationId, account.phone_number, account.id)
  const ended: Array<FurtherEntry> = []
  for (const { account_id, id } of open) {
    if (account_id !== account.id) continue
    const login = yield* logins.end(caller.organizationId, id, "cancelled", now)
    if (login !== null) ended.push(cancelled(login))
  }
  return ended
})

/** Ends protection, within the transaction that has locked the organization; answers what is reported besides. */
export const leave = Effect.fnUntraced(function*(context: AccountContext, now: Date) {
  const accounts = yield* Accounts
  yield* accounts.offboard(context.caller.organizationId, context.account, now)
  yield* (yield* ServiceSessions).leave(ofAccount(context), { due: after(now, again), now })
  return yield* endLogins(context, now)
})

/** Logs the service's sessions out, as far as the messenger answers; the others are logged out later. */
export const logOut = Effect.fnUntraced(
  function*(context: AccountContext, since: Date) {
    const db = yield* Db
    const own = yield* ServiceSessions
    const tasks = yield* AccountTasks
    const of = ofAccount(context)
    const left = yield* db.read(of.organizationId, own.retired(of))
    const gone: Array<string> = []
    for (const { id, session_ref } of left) {
      const ended = yield* before(
        since,
        logOutUntil,
        Effect.scoped(Effect.flatMap(Live.open(session_ref, slotOf(of.accountId)), (live) => live.logOut))
      ).pipe(
        Effect.catchTag("no_session", () => Effect.void),
        Effect.isSuccess
      )
      if (!ended) break
      gone.push(id)
    }
    yield* db.transaction(
      of.organizationId,
      Effect.andThen(
        own.forget(of, gone),
        gone.length < left.length ? Effect.void : tasks.drop(of, "log_out")
      )
    )
  },
  Effect.catchTag("service_unavailable", () => Effect.void)
)
