/**
 * Opens the sessions of accounts whose slots this process has got, so that their pushes are heard, and makes each account
 * due: what was pushed while nobody heard is found by a poll.
 */
import { Clock, Duration, Effect, Layer, Schedule, Semaphore, Stream } from "effect"
import { type Slot, slotOf } from "../domain/accounts/Slot.ts"
import { LiveSessions, type Options } from "../messenger/OpenSessions.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Alarm } from "../ports/protection/Alarm.ts"
import { Monitors, type OpenSession } from "../ports/protection/Monitors.ts"

/** The number of sessions that are being opened at the same time; the connections follow each other at 200 a second. */
export const openedTogether = 64

/** The time after which a database that was away is asked again. */
const askedAgain = Duration.seconds(1)

/** Accounts become due together some time after their sessions are open, so that looks delay no other opening. */
const dueAfter = Duration.seconds(1)

/** Opens up to `maxLive` of them, those with the earliest deadline first, while their slots are owned. */
export const layer = ({ maxLive }: Options) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const monitors = yield* Monitors
    const ownership = yield* Ownership
    const sessions = yield* LiveSessions
    const alarm = yield* Alarm
    const scope = yield* Effect.scope
    const places = yield* Semaphore.make(openedTogether)
    const opened: Array<OpenSession> = []

    /** The terms whose sessions are open, or are being opened; null where there is none. */
    const terms = new Map<Slot, number | null>()

    const makeDue = Effect.gen(function*() {
      const accounts = opened.splice(0)
      const at = new Date(yield* Clock.currentTimeMillis)
      yield* Effect.retry(monitors.push(accounts, { at, look: false }), Schedule.spaced(askedAgain))
      yield* alarm.wake
    })

    const hear = Effect.fnUntraced(function*(account: OpenSession) {
      yield* Effect.scoped(sessions.use(account, account.ref))
      opened.push(account)
      if (opened.length === 1) yield* Effect.forkIn(Effect.delay(makeDue, dueAfter), scope)
    })

    const open = Effect.fnUntraced(function*(changed: ReadonlySet<Slot>) {
      const gained = new Map<Slot, number>()
      for (const slot of changed) {
        const term = ownership.term(slot)
        if (term !== null && term !== terms.get(slot)) gained.set(slot, term)
        terms.set(slot, term)
      }
      if (gained.size === 0) return
      const isMine = (slot: Slot) => ownership.term(slot) === gained.get(slot)
      const accounts = yield* Effect.retry(monitors.sessions(new Set(gained.keys()), maxLive), {
        schedule: Schedule.spaced(askedAgain),
        while: () => [...gained.keys()].some(isMine)
      })
      yield* Effect.forEach(
        accounts,
        (account) =>
          places.withPermit(Effect.suspend(() =>
            isMine(slotOf(account.accountId))
              // One that cannot be opened is met again by the account's poll.
              ? Effect.ignore(hear(account))
              : Effect.void
          )),
        { concurrency: openedTogether, discard: true }
      )
    })

    // Slots come in parts: one session that opens slowly does not hold back those of the next part.
    yield* ownership.changes.pipe(
      Stream.runForEach((changed) => Effect.forkIn(Effect.ignore(open(changed)), scope, { startImmediately: true })),
      Effect.forkScoped({ startImmediately: true })
    )
  }))
