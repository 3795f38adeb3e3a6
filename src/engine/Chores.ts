/** Changes of accounts on the messenger that the service makes while nobody asks. */
import { Clock, Duration, Effect, Exit, type Redacted, type Scope } from "effect"
import * as Actor from "../domain/Actor.ts"
import { MessengerUnavailable, type ServiceUnavailable } from "../domain/Failure.ts"
import { type ActionName, background, journalAction, journalEntry } from "../domain/JournalEntry.ts"
import type { JournalDetails } from "../domain/JournalEvent.ts"
import { unrevealedKept } from "../domain/Limits.ts"
import type { AccountSecurity } from "../domain/Messenger.ts"
import { plus } from "../domain/protection/Deadline.ts"
import type { Facets } from "../domain/protection/Facts.ts"
import { seenFacets } from "../domain/protection/Signals.ts"
import { type Candidates, heldOf, judge, takenPassword } from "../domain/Secrets.ts"
import { Accounts } from "../ports/Accounts.ts"
import { type AccountTask, AccountTasks } from "../ports/AccountTasks.ts"
import { Db } from "../ports/Db.ts"
import { EmailChanges } from "../ports/EmailChanges.ts"
import { SeenFacets } from "../ports/Facets.ts"
import { Guard, type GuardLost, type Held } from "../ports/Guard.ts"
import { Journal } from "../ports/Journal.ts"
import type { Common, LiveSession } from "../ports/MessengerSession.ts"
import { type NewSession, OwnSessions, type SecondSession } from "../ports/OwnSessions.ts"
import { Secrets } from "../ports/Secrets.ts"
import { inTime, LiveSessions } from "./LiveSessions.ts"
import { Watch } from "./Watch.ts"

/** How many tasks one run takes. */
const batch = 20

/** How long a task waits that could not be done: a minute at first, an hour at most. */
const again = (tries: number): Duration.Duration => Duration.minutes(Math.min(60, 2 ** Math.min(tries, 6)))

/** After so many attempts, two days, a task is given up. */
const triesAtMost = 50

export type ChoreServices =
  | Accounts
  | AccountTasks
  | Db
  | EmailChanges
  | Guard
  | Journal
  | LiveSessions
  | OwnSessions
  | Secrets
  | SeenFacets
  | Watch

/** The account as a task finds it. */
interface Found {
  readonly held: Held
  readonly live: LiveSession
  readonly candidates: Candidates
  readonly security: AccountSecurity
}

interface Change<E> {
  /** What is journaled. */
  readonly journaled: ActionName
  readonly details: JournalDetails
  /** What the change is about: nothing is known of it until it is over. */
  readonly facets: ReadonlyArray<keyof Facets>
  /** Written with the intent. */
  readonly prepare: Effect.Effect<void, never, ChoreServices>
  /** Changes the messenger, and answers which passwords may read what it has left behind. */
  readonly act: Effect.Effect<ReadonlyArray<Redacted.Redacted>, E>
  readonly settle: (now: Date) => Effect.Effect<void, never, ChoreServices>
  /** Written where the messenger has certainly not changed. */
  readonly undo: Effect.Effect<void, never, ChoreServices>
  /** Whether the task has more to do. */
  readonly goesOn?: boolean
}

const isUncertain = (exit: Exit.Failure<unknown, unknown>): boolean => {
  const failure = Exit.findErrorOption(exit)
  return failure._tag === "None" ||
    typeof failure.value === "object" && failure.value !== null && "_tag" in failure.value &&
      failure.value._tag === "PlatformUnavailable"
}

/** Makes a change with its intent before and its outcome after, as an operation does; the task is over with it. */
const change = Effect.fnUntraced(function*<E>(
  { candidates, held, live, security }: Found,
  task: AccountTask,
  { act, details, facets, goesOn = false, journaled, prepare, settle, undo }: Change<E>
) {
  const accounts = yield* Accounts
  const db = yield* Db
  const guard = yield* Guard
  const journal = yield* Journal
  const secrets = yield* Secrets
  const seen = yield* SeenFacets
  const tasks = yield* AccountTasks
  const { accountId, organizationId } = held
  const entry = (outcome: "pending" | "done" | "failed", said: JournalDetails, closes?: number) =>
    journalEntry(Actor.service, background, journalAction(journaled), {
      targetId: accountId,
      accountId,
      outcome,
      details: said,
      ...(closes === undefined ? {} : { closes })
    })
  const intent = yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      yield* accounts.hold(organizationId, accountId)
      yield* guard.confirm(held)
      const now = new Date(yield* Clock.currentTimeMillis)
      const { sequence } = yield* journal.begin(organizationId, entry("pending", details))
      yield* secrets.move(held, judge(candidates, security), now)
      yield* seen.forget(held, facets, now)
      yield* prepare
      return sequence
    })
  )
  const exit = yield* Effect.exit(act)
  const after = Exit.isSuccess(exit)
    ? yield* Effect.option(inTime(live.security({ twoFaPasswords: exit.value, passkeyIds: [] })))
    : null
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      yield* accounts.hold(organizationId, accountId)
      yield* guard.confirm(held)
      if (Exit.isFailure(exit)) {
        const certain = !isUncertain(exit)
        if (certain) yield* undo
        yield* journal.close(organizationId, intent, entry("failed", { ...details, certain }, intent))
        return
      }
      yield* settle(new Date(yield* Clock.currentTimeMillis))
      const left = after !== null && after._tag === "Some" ? seenFacets(after.value, undefined) : {}
      yield* seen.keep(
        held,
        Object.fromEntries(Object.entries(left).filter(([name]) => facets.some((facet) => facet === name)))
      )
      if (!goesOn) yield* tasks.drop(held, task.kind)
      yield* journal.close(organizationId, intent, entry("done", details, intent))
    })
  )
})

const drop = Effect.fnUntraced(function*(task: AccountTask) {
  const db = yield* Db
  const tasks = yield* AccountTasks
  yield* db.transaction(task.organizationId, tasks.drop(task, task.kind))
})

/** Replaces a managed 2FA password: whoever took the account over may have read it. */
const rotate = Effect.fnUntraced(function*(found: Found, task: AccountTask) {
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
    settle: (at) =>
      Effect.andThen(
        secrets.erase(task, found.candidates.passwords.map(({ id }) => id)),
        secrets.move(task, [{ id: sealed.id, slot: "held" }], at)
      ),
    undo: secrets.erase(task, [sealed.id])
  })
})

/** Takes an address back that nobody has confirmed. */
const cancelRecovery = Effect.fnUntraced(function*(found: Found, task: AccountTask) {
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
    settle: () => changes.end(task, "recovery"),
    undo: Effect.void
  })
})

/** Whether a session that was begun has come about, by what it says of itself; it fails where nobody knows. */
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

/** Finishes a pairing that nobody heard the outcome of, or makes one after the session before was lost. */
const pair = Effect.fnUntraced(function*(found: Found, task: AccountTask) {
  const db = yield* Db
  const own = yield* OwnSessions
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
    settle: (at) => made === null ? Effect.void : own.paired(task, ref, made, at),
    undo: own.drop(task, ref)
  })
})

/** Removes the 2FA password of an account that could not be reached when it was offboarded, unless it was looked up. */
const release = Effect.fnUntraced(function*(held: Held, live: LiveSession, task: AccountTask) {
  const db = yield* Db
  const secrets = yield* Secrets
  if (!(yield* db.read(task.organizationId, secrets.isUnseen(task)))) return
  const candidates = yield* secrets.candidates(task)
  const security = yield* inTime(live.security(heldOf(candidates)))
  const current = takenPassword(candidates, security)
  if (current === undefined) return
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* change({ held, live, candidates, security }, task, {
    journaled: "two_fa.removed",
    details: { reason: "offboarded" },
    facets: [],
    prepare: secrets.keepUntil(task, "two_fa", plus(now, unrevealedKept)),
    act: Effect.as(inTime(live.removePassword(current.password)), []),
    settle: () => secrets.eraseAll(task, "two_fa"),
    undo: Effect.void,
    goesOn: true
  })
})

/** Logs sessions out that could not be when their account was offboarded; after a month their keys are forgotten. */
const logOut = Effect.fnUntraced(function*(held: Held, task: AccountTask) {
  const db = yield* Db
  const journal = yield* Journal
  const own = yield* OwnSessions
  const sessions = yield* LiveSessions
  const tasks = yield* AccountTasks
  const { accountId, organizationId } = held
  const now = new Date(yield* Clock.currentTimeMillis)
  for (const { erase_at, id, session_ref } of yield* db.read(organizationId, own.retired(task))) {
    const isOver = erase_at !== null && erase_at.getTime() <= now.getTime()
    const loggedOut = yield* Effect.gen(function*() {
      const live = yield* sessions.use(task, session_ref)
      yield* release(held, live, task)
      yield* inTime(live.logOut)
      return true
    }).pipe(
      Effect.scoped,
      Effect.catchTag("NoSession", () => Effect.succeed(false)),
      Effect.catchIf(() => isOver, () => Effect.as(sessions.forget(session_ref), false)),
      Effect.ensuring(sessions.close(session_ref))
    )
    const happened = { targetId: accountId, accountId, details: { reason: "offboarded" } }
    const entry = journalEntry(Actor.service, background, journalAction("session.logged_out"), happened)
    yield* db.transaction(
      organizationId,
      Effect.andThen(own.forget(task, [id]), loggedOut ? journal.append(organizationId, entry) : Effect.void)
    )
  }
  yield* db.transaction(organizationId, tasks.drop(task, task.kind))
})

const run = (
  task: AccountTask
): Effect.Effect<
  void,
  Common | GuardLost | MessengerUnavailable | ServiceUnavailable,
  ChoreServices | Scope.Scope
> =>
  Effect.gen(function*() {
    const guard = yield* Guard
    const secrets = yield* Secrets
    const sessions = yield* LiveSessions
    const watch = yield* Watch
    const held = yield* guard.acquire(task.organizationId, task.accountId)
    if (task.kind === "log_out") return yield* logOut(held, task)
    const main = (yield* watch.own(held)).find(({ slot }) => slot === "main")
    if (main === undefined || task.tries >= triesAtMost) return yield* drop(task)
    const live = yield* sessions.use(task, main.session_ref)
    const candidates = yield* secrets.candidates(task)
    const security = yield* inTime(live.security(heldOf(candidates)))
    if (security.two_fa_present === null) return yield* new MessengerUnavailable({})
    const found: Found = { held, live, candidates, security }
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
  const due = yield* tasks.due(batch, now)
  for (const task of due) {
    if (!(yield* tasks.take(task, plus(now, again(task.tries))))) continue
    yield* Effect.scoped(run(task)).pipe(
      Effect.catchCause((cause) => Effect.logDebug("A task of an account is tried again", cause))
    )
  }
  return due.length
})
