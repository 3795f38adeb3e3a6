/** Changes an account on the messenger in a background task: as an operation does, without a caller. */
import { Clock, Effect, type Redacted } from "effect"
import * as Intent from "../changes/Intent.ts"
import { byService } from "../changes/Record.ts"
import type { ActionName } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { AccountSecurity } from "../domain/messenger/Messenger.ts"
import type { Facets } from "../domain/protection/Facts.ts"
import { seenFacets } from "../domain/protection/Signals.ts"
import { type Candidates, judge } from "../domain/security/Secrets.ts"
import { inTime, type LiveSessions } from "../messenger/OpenSessions.ts"
import { AccountLock, type LockedAccountRef } from "../ports/accounts/AccountLock.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import type { Db } from "../ports/Db.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"
import type { LiveSession } from "../ports/messenger/MessengerSession.ts"
import type { Ownership } from "../ports/messenger/Ownership.ts"
import { type AccountTask, AccountTasks } from "../ports/protection/AccountTasks.ts"
import type { Watch } from "../ports/protection/MonitorStore.ts"
import { SeenFacets } from "../ports/protection/ObservedSettings.ts"
import type { ServiceSessions } from "../ports/protection/ServiceSessions.ts"
import type { EmailChanges } from "../ports/security/EmailChanges.ts"
import { Secrets } from "../ports/security/Secrets.ts"

export type ChoreServices =
  | Accounts
  | AccountTasks
  | Db
  | EmailChanges
  | AccountLock
  | Journal
  | LiveSessions
  | Outbox
  | Ownership
  | ServiceSessions
  | Secrets
  | SeenFacets
  | Watch

/** The account as a task finds it. */
export interface TaskAccount {
  readonly held: LockedAccountRef
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

/** Locks the account in a transaction of its holder; fails where the holding was lost. */
export const lockHeld = Effect.fnUntraced(function*(held: LockedAccountRef) {
  const accounts = yield* Accounts
  const guard = yield* AccountLock
  yield* accounts.hold(held.organizationId, held.accountId)
  yield* guard.confirm(held)
})

/** Makes a change with its intent before and its outcome after, as an operation does; the task is over with it. */
export const change = Effect.fnUntraced(function*<E>(
  { candidates, held, live, security }: TaskAccount,
  task: AccountTask,
  { act, apply, details, facets, goesOn = false, journaled, prepare, undo, wanted = Effect.succeed(true) }: Change<E>
) {
  const secrets = yield* Secrets
  const seen = yield* SeenFacets
  const tasks = yield* AccountTasks
  const { accountId, organizationId } = held
  const target = { id: accountId, accountId }
  const entry = { author: byService(organizationId), action: journaled, target, details }
  yield* Intent.run({
    organizationId,
    entry: Effect.andThen(
      lockHeld(held),
      Effect.map(wanted, (isWanted) => isWanted ? { entry, context: held } : { entry: null, answer: null })
    ),
    prepare: () =>
      Effect.gen(function*() {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* secrets.move(held, judge(candidates, security), now)
        yield* seen.forget(held, facets, now)
        yield* prepare
      }),
    act: () =>
      Effect.flatMap(act, (twoFaPasswords) => Effect.option(inTime(live.security({ twoFaPasswords, passkeyIds: [] })))),
    apply: (after) =>
      Effect.gen(function*() {
        yield* lockHeld(held)
        yield* apply(new Date(yield* Clock.currentTimeMillis))
        const left = after._tag === "Some" ? seenFacets(after.value, undefined) : {}
        yield* seen.keep(
          held,
          Object.fromEntries(Object.entries(left).filter(([name]) => facets.some((facet) => facet === name)))
        )
        if (!goesOn) yield* tasks.drop(held, task.kind)
        return {}
      }),
    undo: ({ certain }) =>
      lockHeld(held).pipe(Effect.andThen(certain ? undo : Effect.void), Effect.as({ details: { certain } }))
  })
})
