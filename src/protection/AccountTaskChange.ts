/** Changes an account on the messenger in a background task: as an operation does, without a caller. */
import { Clock, Effect, Exit, type Redacted } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import { type ActionName, background, journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { AccountSecurity } from "../domain/messenger/Messenger.ts"
import type { Facets } from "../domain/protection/Facts.ts"
import { seenFacets } from "../domain/protection/Signals.ts"
import { type Candidates, judge } from "../domain/security/Secrets.ts"
import { inTime, type LiveSessions } from "../messenger/OpenSessions.ts"
import { Guard, type Held } from "../ports/accounts/AccountLock.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import type { LiveSession } from "../ports/messenger/MessengerSession.ts"
import { type AccountTask, AccountTasks } from "../ports/protection/AccountTasks.ts"
import type { Watch } from "../ports/protection/MonitorStore.ts"
import { SeenFacets } from "../ports/protection/ObservedSettings.ts"
import type { OwnSessions } from "../ports/protection/ServiceSessions.ts"
import type { EmailChanges } from "../ports/security/EmailChanges.ts"
import { Secrets } from "../ports/security/Secrets.ts"

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
export interface TaskAccount {
  readonly held: Held
  readonly live: LiveSession
  readonly candidates: Candidates
  readonly security: AccountSecurity
}

interface Change<E> {
  /** The action that is journaled. */
  readonly journaled: ActionName
  readonly details: JournalDetails
  /** The settings that the change is about: nothing is known of them until it is over. */
  readonly facets: ReadonlyArray<keyof Facets>
  /** True if the change is still wanted, with the account locked; true by default. */
  readonly wanted?: Effect.Effect<boolean, never, ChoreServices>
  /** Written with the intent. */
  readonly prepare: Effect.Effect<void, never, ChoreServices>
  /** Changes the messenger, and answers which passwords may read what it has left behind. */
  readonly act: Effect.Effect<ReadonlyArray<Redacted.Redacted>, E>
  readonly apply: (now: Date) => Effect.Effect<void, never, ChoreServices>
  /** Written where the messenger has certainly not changed. */
  readonly undo: Effect.Effect<void, never, ChoreServices>
  /** True if the task has more to do. */
  readonly goesOn?: boolean
}

/** True if the messenger may have changed all the same. */
export const isUncertain = (exit: Exit.Failure<unknown, unknown>): boolean => {
  const failure = Exit.findErrorOption(exit)
  return failure._tag === "None" ||
    typeof failure.value === "object" && failure.value !== null && "_tag" in failure.value &&
      failure.value._tag === "PlatformUnavailable"
}

/** Makes a change with its intent before and its outcome after, as an operation does; the task is over with it. */
export const change = Effect.fnUntraced(function*<E>(
  { candidates, held, live, security }: TaskAccount,
  task: AccountTask,
  { act, details, facets, goesOn = false, journaled, prepare, apply, undo, wanted }: Change<E>
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
      if (wanted !== undefined && !(yield* wanted)) return null
      const now = new Date(yield* Clock.currentTimeMillis)
      const { sequence } = yield* journal.begin(organizationId, entry("pending", details))
      yield* secrets.move(held, judge(candidates, security), now)
      yield* seen.forget(held, facets, now)
      yield* prepare
      return sequence
    })
  )
  if (intent === null) return
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
      yield* apply(new Date(yield* Clock.currentTimeMillis))
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
