/** Changes of accounts on the messenger that the service makes in the background. */
import { Clock, Duration, Effect, type Scope } from "effect"
import { MessengerUnavailable, type ServiceUnavailable } from "../domain/Failure.ts"
import { after } from "../domain/Moments.ts"
import { heldOf, takenPassword } from "../domain/security/Secrets.ts"
import { inTime, LiveSessions } from "../messenger/OpenSessions.ts"
import { AccountLock, type AccountLockLost } from "../ports/accounts/AccountLock.ts"
import { Db } from "../ports/Db.ts"
import type { MessengerFailure } from "../ports/messenger/MessengerSession.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { type AccountTask, AccountTasks } from "../ports/protection/AccountTasks.ts"
import { Watch } from "../ports/protection/MonitorStore.ts"
import { type NewSession, type SecondSession, ServiceSessions } from "../ports/protection/ServiceSessions.ts"
import { EmailChanges } from "../ports/security/EmailChanges.ts"
import { Secrets } from "../ports/security/Secrets.ts"
import { change, type ChoreServices, type TaskAccount } from "./AccountTaskChange.ts"
import { logOut } from "./RetiredSessions.ts"

const tasksPerRun = 20

/** The wait of a task that could not be done: a minute at first, an hour at most. */
const again = (tries: number): Duration.Duration => Duration.minutes(Math.min(60, 2 ** Math.min(tries, 6)))

/** After this many attempts, about two days, a task is abandoned. */
const triesAtMost = 50

const drop = Effect.fnUntraced(function*(task: AccountTask) {
  const db = yield* Db
  const tasks = yield* AccountTasks
  yield* db.transaction(task.organizationId, tasks.drop(task, task.kind))
})

/** A pairing with an unknown outcome may have left a session, which is logged out. */
const giveUp = Effect.fnUntraced(function*(task: AccountTask) {
  if (task.kind === "pair") {
    const db = yield* Db
    const own = yield* ServiceSessions
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* db.transaction(task.organizationId, own.abandon(task, now))
  }
  yield* drop(task)
})

/** Replaces a managed 2FA password, because the intruder may have read it. */
const rotate = Effect.fnUntraced(function*(found: TaskAccount, task: AccountTask) {
  const secrets = yield* Secrets
  const current = takenPassword(found.candidates, found.security)
  if (current === undefined) return yield* drop(task)
  const next = yield* secrets.newPassword
  const sealed = yield* secrets.seal(task, { kind: "two_fa", secret: next })
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* change(found, task, {
    journaled: "two_fa.set",
    details: { reason: "takeover" },
    facets: ["two_fa"],
    prepare: secrets.put(task, sealed, "next", now),
    act: Effect.as(inTime(found.live.setPassword({ current: current.password, next })), [next]),
    apply: (at) =>
      Effect.andThen(
        secrets.erase(task, found.candidates.passwords.map(({ id }) => id)),
        secrets.move(task, [{ id: sealed.id, slot: "held" }], at)
      ),
    undo: secrets.erase(task, [sealed.id])
  })
})

/** Removes an address that has not been confirmed. */
const cancelRecovery = Effect.fnUntraced(function*(found: TaskAccount, task: AccountTask) {
  const db = yield* Db
  const changes = yield* EmailChanges
  const open = yield* db.read(task.organizationId, changes.find(task, "recovery"))
  if (open === null || found.security.recovery_pending_pattern !== open.pattern) {
    yield* db.transaction(task.organizationId, changes.end(task, "recovery"))
    return yield* drop(task)
  }
  const current = takenPassword(found.candidates, found.security)
  yield* change(found, task, {
    journaled: "recovery_email.cancelled",
    details: { email: open.pattern },
    facets: ["recovery"],
    prepare: Effect.void,
    act: Effect.as(inTime(found.live.cancelRecoveryEmail), current === undefined ? [] : [current.password]),
    apply: () => changes.end(task, "recovery"),
    undo: Effect.void
  })
})

/** The creation time of a begun session by its own answer; null where there is none; fails where that is unknown. */
const resolved = Effect.fnUntraced(function*(task: AccountTask, { id, session_ref }: SecondSession) {
  const sessions = yield* LiveSessions
  return yield* Effect.gen(function*() {
    const own = yield* sessions.use(task, session_ref)
    const current = (yield* inTime(own.authorizations)).find((seen) => seen.current)
    return current?.created_at ?? null
  }).pipe(
    Effect.catchTag("NoSession", () => Effect.succeed(null)),
    Effect.annotateLogs({ session: id })
  )
})

/** Finishes a pairing with an unknown outcome, or makes one after the previous session was lost. */
const pair = Effect.fnUntraced(function*(found: TaskAccount, task: AccountTask) {
  const db = yield* Db
  const own = yield* ServiceSessions
  const tasks = yield* AccountTasks
  const second = yield* db.read(task.organizationId, own.second(task))
  const begun = second.find(({ slot }) => slot === "pairing")
  if (begun !== undefined) {
    const createdAt = yield* resolved(task, begun)
    const now = new Date(yield* Clock.currentTimeMillis)
    return yield* db.transaction(
      task.organizationId,
      Effect.andThen(
        createdAt === null
          ? own.drop(task, begun.session_ref)
          : own.paired(task, begun.session_ref, { seenAs: null, createdAt }, now),
        tasks.drop(task, "pair")
      )
    )
  }
  const password = takenPassword(found.candidates, found.security)?.password ?? null
  const needsHolder = found.security.two_fa_present === true && password === null
  if (needsHolder || second.length > 0) return yield* drop(task)
  const ref = yield* own.newRef
  const now = new Date(yield* Clock.currentTimeMillis)
  let made: NewSession | null = null
  yield* change(found, task, {
    journaled: "paired_session.created",
    details: { reason: "failed_over" },
    facets: [],
    prepare: own.begin(task, ref, now),
    act: Effect.map(inTime(found.live.pair(ref, password)), (paired) => {
      made = paired
      return []
    }),
    apply: (at) => made === null ? Effect.void : own.paired(task, ref, made, at),
    undo: own.drop(task, ref)
  })
})

const run = (
  task: AccountTask
): Effect.Effect<
  void,
  MessengerFailure | AccountLockLost | MessengerUnavailable | ServiceUnavailable,
  ChoreServices | Scope.Scope
> =>
  Effect.gen(function*() {
    const guard = yield* AccountLock
    const secrets = yield* Secrets
    const sessions = yield* LiveSessions
    const watch = yield* Watch
    const held = yield* guard.acquire(task.organizationId, task.accountId)
    if (task.kind === "log_out") return yield* logOut(held, task)
    const main = (yield* watch.own(held)).find(({ slot }) => slot === "main")
    if (main === undefined || task.tries >= triesAtMost) return yield* giveUp(task)
    const live = yield* sessions.use(task, main.session_ref)
    const candidates = yield* secrets.candidates(task)
    const security = yield* inTime(live.security(heldOf(candidates)))
    if (security.two_fa_present === null) return yield* new MessengerUnavailable({})
    const found: TaskAccount = { held, live, candidates, security }
    switch (task.kind) {
      case "rotate_two_fa":
        return yield* rotate(found, task)
      case "cancel_recovery_email":
        return yield* cancelRecovery(found, task)
      case "pair":
        return yield* pair(found, task)
    }
  })

/** Does what is due; what could not be done is tried again later. Answers how many tasks were begun. */
export const chores: Effect.Effect<number, ServiceUnavailable, ChoreServices> = Effect.gen(function*() {
  const tasks = yield* AccountTasks
  const now = new Date(yield* Clock.currentTimeMillis)
  const due = yield* tasks.due((yield* Ownership).owned(), tasksPerRun, now)
  for (const task of due) {
    if (!(yield* tasks.take(task, after(now, again(task.tries))))) continue
    yield* Effect.scoped(run(task)).pipe(
      Effect.catchCause((cause) => Effect.logDebug("A task of an account is tried again", cause))
    )
  }
  return due.length
})
