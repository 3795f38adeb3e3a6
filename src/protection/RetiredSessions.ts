/** Sessions of the service that are not used any more: an account was left, signed in to again, or paired again. */
import { Clock, Effect } from "effect"
import * as Intent from "../changes/Intent.ts"
import { byService } from "../changes/Record.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { ActionName } from "../domain/journal/JournalEntry.ts"
import { unrevealedKept } from "../domain/Limits.ts"
import { serviceDevice } from "../domain/messenger/Messenger.ts"
import { after } from "../domain/Moments.ts"
import { isActing } from "../domain/protection/Deadline.ts"
import { oldestAble, recognized } from "../domain/protection/ServiceSessionFacts.ts"
import { heldOf, takenPassword } from "../domain/security/Secrets.ts"
import { inTime, LiveSessions } from "../messenger/OpenSessions.ts"
import type { AccountLockLost, LockedAccountRef } from "../ports/accounts/AccountLock.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import { Db } from "../ports/Db.ts"
import { type LiveSession, PlatformUnavailable } from "../ports/messenger/MessengerSession.ts"
import { type AccountTask, AccountTasks } from "../ports/protection/AccountTasks.ts"
import { Watch } from "../ports/protection/MonitorStore.ts"
import { type RetiredSession, ServiceSessions } from "../ports/protection/ServiceSessions.ts"
import { Secrets, type SecretsOf } from "../ports/security/Secrets.ts"
import { change, lockHeld, type TaskAccount } from "./AccountTaskChange.ts"

/** The reason that an account was left, or a session of it. */
const reasonOf = Effect.fnUntraced(function*(held: LockedAccountRef) {
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
const release = Effect.fnUntraced(
  function*(held: LockedAccountRef, live: LiveSession, task: AccountTask, reason: string) {
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
      prepare: secrets.keepUntil(task, "two_fa", after(now, unrevealedKept)),
      act: Effect.as(inTime(live.removePassword(current.password)), []),
      apply: () => secrets.eraseAll(task, "two_fa")
    })
  }
)

const action: ActionName = "session.logged_out"

/** The common part of the intent of a log-out and its outcome. */
const entryOf = ({ accountId, organizationId }: LockedAccountRef, reason: string): Intent.IntentEntry => ({
  author: byService(organizationId),
  action,
  target: { id: accountId, accountId },
  details: { reason }
})

/** Ends a session by the call, with an intent before it; with its outcome the session is forgotten. */
const ending = Effect.fnUntraced(function*<E, R>(
  held: LockedAccountRef,
  { id, log_out_intent }: RetiredSession,
  reason: string,
  call: Effect.Effect<void, E, R>
) {
  const own = yield* ServiceSessions
  const ended = yield* Intent.run({
    organizationId: held.organizationId,
    entry: Effect.as(lockHeld(held), { entry: entryOf(held, reason), earlier: log_out_intent, context: held }),
    prepare: (intent) => own.trying(held, id, intent),
    act: () => call,
    apply: () => lockHeld(held).pipe(Effect.andThen(own.forget(held, [id])), Effect.as({})),
    undo: ({ certain }) =>
      lockHeld(held).pipe(
        Effect.andThen(certain ? own.trying(held, id, null) : Effect.void),
        Effect.as({ details: { certain } })
      )
  })
  if (ended.entry !== null) yield* ended.exit
})

/** A session has ended: by a log-out whose outcome was lost, or by another party, which is not journaled. */
const gone = Effect.fnUntraced(
  function*(held: LockedAccountRef, { id, log_out_intent }: RetiredSession, reason: string) {
    const db = yield* Db
    const own = yield* ServiceSessions
    const outcome = log_out_intent === null ? Effect.void : Intent.close(entryOf(held, reason), log_out_intent, "done")
    yield* db.transaction(
      held.organizationId,
      lockHeld(held).pipe(Effect.andThen(own.forget(held, [id])), Effect.andThen(outcome))
    )
  }
)

/** A session is forgotten, whatever has become of it on the messenger. */
const forget = Effect.fnUntraced(function*(of: SecretsOf, { id }: RetiredSession) {
  const db = yield* Db
  const own = yield* ServiceSessions
  yield* db.transaction(of.organizationId, own.forget(of, [id]))
})

/** Signs a session out by another one, once that may, where its own key is lost. */
const signOut = Effect.fnUntraced(function*(held: LockedAccountRef, session: RetiredSession, reason: string) {
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
const end = Effect.fnUntraced(
  function*(held: LockedAccountRef, task: AccountTask, session: RetiredSession, reason: string) {
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
  }
)

/** Logs them out, each by itself; after a month the key of an unavailable session is deleted. */
export const logOut = Effect.fnUntraced(function*(held: LockedAccountRef, task: AccountTask) {
  const db = yield* Db
  const own = yield* ServiceSessions
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
        (failure): failure is Exclude<typeof failure, AccountLockLost | ServiceUnavailable> =>
          failure._tag !== "GuardLost" && failure._tag !== "service_unavailable",
        () => isOver ? giveUp : Effect.sync(() => void left++)
      )
    )
  }
  if (left === 0) yield* db.transaction(organizationId, tasks.drop(task, task.kind))
})
