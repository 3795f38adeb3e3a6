/** Signs sessions out for two operations: one after the other, and what could not be is left to the engine. */
import { Clock, Duration, Effect } from "effect"
import type { FurtherEntry } from "../../changes/Record.ts"
import { type AccountFacts, accountName } from "../../domain/accounts/Account.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { longestSignOut, signOutRetry } from "../../domain/Limits.ts"
import * as Mail from "../../domain/mail/index.ts"
import { after } from "../../domain/Moments.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { acted, type StoredSession } from "../../domain/sessions/SessionReview.ts"
import type { GuardedContext, MessengerContext } from "../../kernel/Context.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import { AccountTasks } from "../../ports/protection/AccountTasks.ts"
import { Sessions, type SessionsAccount } from "../../ports/sessions/Sessions.ts"

interface Context {
  readonly account: AccountFacts
  readonly caller: Caller["Service"]
}

export const whoseOf = ({ account, caller }: Context): SessionsAccount => ({
  organizationId: caller.organizationId,
  accountId: account.id
})

/** Queues the sign-outs; `intent` is theirs where they are sent now. */
export const reject = (sessions: ReadonlyArray<string>, intent: number | null, context: GuardedContext) =>
  Effect.flatMap(
    Sessions,
    (port) => port.reject(whoseOf(context), { sessions, by: context.caller.adminId, intent }, context.now)
  )

/** The outcome for each session, by their ids. */
export interface SignOutResult {
  readonly ended: ReadonlyArray<string>
  readonly gone: ReadonlyArray<string>
  readonly waiting: ReadonlyArray<string>
  /** It is unknown if the messenger did it. */
  readonly unsure: ReadonlyArray<string>
  /** An admin decided otherwise in the meantime. */
  readonly spared: ReadonlyArray<string>
  readonly retryAt: Date | null
}

const nothing: SignOutResult = { ended: [], gone: [], waiting: [], unsure: [], spared: [], retryAt: null }

/**
 * Signs out one after the other; once the messenger refuses one or does not answer, the others wait. It fails as the
 * messenger does where that was the first.
 */
export const signOut = Effect.fnUntraced(
  function*(targets: ReadonlyArray<StoredSession>, context: MessengerContext) {
    const sessions = yield* Sessions
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(longestSignOut)
    let came = nothing
    for (const [place, { id, sent }] of targets.entries()) {
      const now = yield* Clock.currentTimeMillis
      const rest = targets.slice(place + 1).map((target) => target.id)
      if (now >= until) return { ...came, waiting: [id, ...rest] }
      if (!(yield* sessions.maySignOut(whoseOf(context), id))) {
        came = { ...came, spared: [...came.spared, id] }
        continue
      }
      const attempt = context.live.signOut(id)
      const result = came.ended.length + came.gone.length === 0
        ? yield* attempt
        : yield* Effect.orElseSucceed(attempt, () => null)
      if (result === null) return { ...came, unsure: [id], waiting: rest }
      switch (result.kind) {
        case "done":
          came = { ...came, ended: [...came.ended, id] }
          break
        case "unknown":
          // If it may have been sent before, that was what ended it.
          came = sent ? { ...came, ended: [...came.ended, id] } : { ...came, gone: [...came.gone, id] }
          break
        case "locked":
          return { ...came, waiting: [id, ...rest], retryAt: result.until ?? after(new Date(now), signOutRetry) }
      }
    }
    return came
  }
)

/** The report of a takeover that an admin has stopped: as where the service does by itself. */
const stoppedEntry = ({ account }: Context, signedOut: number, twoFaManaged: boolean): FurtherEntry => ({
  journal: journalAction("takeover.stopped"),
  targetId: account.id,
  accountId: account.id,
  details: { sessions: signedOut },
  mails: [Mail.takeoverStopped({ account: { id: account.id, name: accountName(account) }, signedOut, twoFaManaged })]
})

/** Writes down the outcome; returns the number of sessions still to be signed out, and further reports. */
export const settle = Effect.fnUntraced(function*(came: SignOutResult, context: Context) {
  const sessions = yield* Sessions
  const now = new Date(yield* Clock.currentTimeMillis)
  const stopped = yield* sessions.applySignOuts(whoseOf(context), came, now)
  // The intruder may have read it.
  if (stopped?.twoFaManaged === true) yield* (yield* AccountTasks).add(whoseOf(context), "rotate_two_fa", now)
  return {
    left: came.waiting.length + came.unsure.length,
    more: stopped === null ? [] : [stoppedEntry(context, came.ended.length, stopped.twoFaManaged)]
  }
})

/** The answer, with the status that the account has by now where that is another. */
export const answer = Effect.fnUntraced(function*(action: string, { account, caller }: Context) {
  const accounts = yield* Accounts
  const db = yield* Db
  // The result stays true where the status cannot be read.
  const latest = yield* db.read(caller.organizationId, accounts.find(caller, account.id, false)).pipe(
    Effect.orElseSucceed(() => null)
  )
  return acted(action, account, latest, new Date(yield* Clock.currentTimeMillis))
})
