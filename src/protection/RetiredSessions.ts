/** Sessions of the service that are not used any more: an account was left, signed in to again, or paired again. */
import { Clock, Effect, Exit } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import * as Actor from "../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import { unrevealedKept } from "../domain/Limits.ts"
import { serviceDevice } from "../domain/messenger/Messenger.ts"
import { isActing, plus } from "../domain/protection/Deadline.ts"
import { oldestAble, recognized } from "../domain/protection/ServiceSessionFacts.ts"
import { heldOf, takenPassword } from "../domain/security/Secrets.ts"
import { inTime, LiveSessions } from "../messenger/OpenSessions.ts"
import { Guard, type GuardLost, type Held } from "../ports/accounts/AccountLock.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { type LiveSession, PlatformUnavailable } from "../ports/messenger/MessengerSession.ts"
import { type AccountTask, AccountTasks } from "../ports/protection/AccountTasks.ts"
import { Watch } from "../ports/protection/MonitorStore.ts"
import { OwnSessions, type RetiredSession } from "../ports/protection/ServiceSessions.ts"
import { Secrets, type SecretsOf } from "../ports/security/Secrets.ts"
import { change, isUncertain, type TaskAccount } from "./AccountTaskChange.ts"

/** The reason that an account was left, or a session of it. */
const reasonOf = Effect.fnUntraced(function*(held: Held) {
  const { accountId, organizationId } = held
  if ((yield* (yield* Watch).own(held)).some(({ slot }) => slot === "main")) return "replaced"
  const accounts = yield* Accounts
  const account = yield* (yield* Db).transaction(organizationId, accounts.hold(organizationId, accountId))
  return account?.offboarded_at === null ? "licence" : "offboarded"
})

/**
 * Removes what the service has set, of an account that was not available when it was offboarded or that has long been
 * without a licence: its passkey, and its 2FA password unless that was revealed.
 */
const release = Effect.fnUntraced(function*(held: Held, live: LiveSession, task: AccountTask, reason: string) {
  const db = yield* Db
  const secrets = yield* Secrets
  // The account may have been connected again, or the password revealed.
  const passkeyWanted = secrets.isUnseen(task, "passkey")
  const passwordWanted = secrets.isUnseen(task, "two_fa")
  const wanted = yield* db.read(task.organizationId, Effect.all([passkeyWanted, passwordWanted]))
  if (!wanted.includes(true)) return
  const candidates = yield* secrets.candidates(task)
  const security = yield* inTime(live.security(heldOf(candidates)))
  const found: TaskAccount = { held, live, candidates, security }
  const common = { details: { reason }, facets: [], undo: Effect.void, goesOn: true }
  const passkey = candidates.passkeys.find(({ passkeyId }) => security.passkey_ids?.includes(passkeyId))
  if (passkey !== undefined) {
    yield* change(found, task, {
      ...common,
      journaled: "passkey.removed",
      wanted: passkeyWanted,
      prepare: Effect.void,
      act: Effect.as(inTime(live.removePasskey(passkey.passkeyId)), []),
      apply: () => secrets.eraseAll(task, "passkey")
    })
  }
  const current = takenPassword(candidates, security)
  if (current === undefined) return
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* change(found, task, {
    ...common,
    journaled: "two_fa.removed",
    wanted: passwordWanted,
    prepare: secrets.keepUntil(task, "two_fa", plus(now, unrevealedKept)),
    act: Effect.as(inTime(live.removePassword(current.password)), []),
    apply: () => secrets.eraseAll(task, "two_fa")
  })
})

type Outcome = "pending" | "done" | "failed"

const entryOf = ({ accountId }: Held, outcome: Outcome, details: JournalDetails, closes?: number) =>
  journalEntry(Actor.service, background, journalAction("session.logged_out"), {
    targetId: accountId,
    accountId,
    outcome,
    details,
    ...(closes === undefined ? {} : { closes })
  })

/** Runs with the account held; fails where the holding was lost. */
const locked = Effect.fnUntraced(function*<A, R>(held: Held, work: Effect.Effect<A, never, R>) {
  const accounts = yield* Accounts
  const db = yield* Db
  const guard = yield* Guard
  return yield* db.transaction(
    held.organizationId,
    accounts.hold(held.organizationId, held.accountId).pipe(
      Effect.andThen(guard.confirm(held)),
      Effect.andThen(work)
    )
  )
})

/** The intent of a log-out: that of a try before while it is open, or one that names it. */
const begin = Effect.fnUntraced(function*(held: Held, { log_out_intent: before }: RetiredSession, reason: string) {
  const journal = yield* Journal
  if (before !== null && (yield* journal.renew(held.organizationId, before))) return before
  const details = before === null ? { reason } : { reason, retries: before }
  return (yield* journal.begin(held.organizationId, entryOf(held, "pending", details))).sequence
})

/** The session is logged out: it is deleted and journaled; an intent that the sweep has closed is begun again. */
const done = Effect.fnUntraced(function*(held: Held, { id }: RetiredSession, reason: string, intent: number) {
  const journal = yield* Journal
  yield* (yield* OwnSessions).forget(held, [id])
  if (yield* journal.close(held.organizationId, intent, entryOf(held, "done", { reason }, intent))) return
  const details = { reason, retries: intent }
  const { sequence } = yield* journal.begin(held.organizationId, entryOf(held, "pending", details))
  yield* journal.close(held.organizationId, sequence, entryOf(held, "done", details, sequence))
})

/** Ends a session by the call, with an intent before it; with its outcome the session is forgotten. */
const ending = Effect.fnUntraced(function*<E, R>(
  held: Held,
  session: RetiredSession,
  reason: string,
  call: Effect.Effect<void, E, R>
) {
  const journal = yield* Journal
  const own = yield* OwnSessions
  const intent = yield* locked(
    held,
    Effect.tap(begin(held, session, reason), (sequence) => own.trying(held, session.id, sequence))
  )
  const exit = yield* Effect.exit(call)
  if (Exit.isSuccess(exit)) return yield* locked(held, done(held, session, reason, intent))
  const certain = !isUncertain(exit)
  yield* locked(
    held,
    Effect.andThen(
      certain ? own.trying(held, session.id, null) : Effect.void,
      journal.close(held.organizationId, intent, entryOf(held, "failed", { reason, certain }, intent))
    )
  )
  return yield* exit
})

/** A session has ended: by a log-out whose outcome was lost, or by another party, which is not journaled. */
const gone = (held: Held, session: RetiredSession, reason: string) =>
  Effect.flatMap(OwnSessions, (own) =>
    locked(
      held,
      session.log_out_intent === null
        ? own.forget(held, [session.id])
        : done(held, session, reason, session.log_out_intent)
    ))

/** A session is forgotten, whatever has become of it on the messenger. */
const forget = Effect.fnUntraced(function*(of: SecretsOf, { id }: RetiredSession) {
  const db = yield* Db
  const own = yield* OwnSessions
  yield* db.transaction(of.organizationId, own.forget(of, [id]))
})

/** Signs a session out by another one, once that may, where its own key is lost. */
const signOut = Effect.fnUntraced(function*(held: Held, session: RetiredSession, reason: string) {
  const own = yield* (yield* Watch).own(held)
  if (!own.some(isActing)) return yield* forget(held, session)
  const able = oldestAble(own, new Date(yield* Clock.currentTimeMillis))
  if (able === undefined) return yield* new PlatformUnavailable({})
  const live = yield* (yield* LiveSessions).use(held, able.session_ref)
  const list = recognized(own, able.id, yield* inTime(live.authorizations), serviceDevice)
  if (list === null) return yield* new PlatformUnavailable({})
  const listed = list.others.get(session.id)
  if (listed === undefined) return yield* gone(held, session, reason)
  return yield* ending(held, session, reason, inTime(live.signOut(listed.id))).pipe(
    Effect.catchTag("UnknownAuthorization", () => gone(held, { ...session, log_out_intent: null }, reason))
  )
})

/** Ends a session on the messenger, and deletes its key; also of a session that is gone already. */
const end = Effect.fnUntraced(function*(held: Held, task: AccountTask, session: RetiredSession, reason: string) {
  const sessions = yield* LiveSessions
  yield* Effect.gen(function*() {
    const live = yield* sessions.use(task, session.session_ref)
    yield* release(held, live, task, reason)
    // An account that is not available, or does not exist any more, is not changed: no intent is written.
    yield* inTime(live.authorizations)
    yield* ending(held, session, reason, inTime(live.logOut)).pipe(
      Effect.catchTag("NoSession", () => gone(held, { ...session, log_out_intent: null }, reason))
    )
  }).pipe(
    Effect.catchTag(
      "NoSession",
      (failure) => failure.reason === "never" ? signOut(held, session, reason) : gone(held, session, reason)
    ),
    Effect.scoped,
    Effect.ensuring(sessions.close(session.session_ref))
  )
  yield* sessions.forget(session.session_ref)
})

/** Logs them out, each by itself; after a month the key of an unavailable session is deleted. */
export const logOut = Effect.fnUntraced(function*(held: Held, task: AccountTask) {
  const db = yield* Db
  const own = yield* OwnSessions
  const sessions = yield* LiveSessions
  const tasks = yield* AccountTasks
  const { organizationId } = held
  const reason = yield* reasonOf(held)
  let left = 0
  for (const session of yield* db.read(organizationId, own.retired(task))) {
    const now = yield* Clock.currentTimeMillis
    const isOver = session.erase_at !== null && session.erase_at.getTime() <= now
    const giveUp = Effect.andThen(sessions.forget(session.session_ref), forget(task, session))
    yield* end(held, task, session, reason).pipe(
      Effect.catchIf(
        (failure): failure is Exclude<typeof failure, GuardLost | ServiceUnavailable> =>
          failure._tag !== "GuardLost" && failure._tag !== "service_unavailable",
        () => isOver ? giveUp : Effect.sync(() => void left++)
      )
    )
  }
  if (left === 0) yield* db.transaction(organizationId, tasks.drop(task, task.kind))
})
