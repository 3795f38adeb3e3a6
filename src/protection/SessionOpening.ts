/**
 * Opens the sessions of accounts whose slots this process has got, so that their pushes are heard, and makes each account
 * due: what was pushed while nobody heard is found by a poll.
 */
import { Clock, Duration, Effect, Layer, Schedule, Stream } from "effect"
import { type Slot, slotOf } from "../domain/accounts/Slot.ts"
import { LiveSessions, type Options } from "../messenger/OpenSessions.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Alarm } from "../ports/protection/Alarm.ts"
import { Monitors, type OpenSession } from "../ports/protection/Monitors.ts"

/** The number of sessions that are being opened at the same time; the connections follow each other at 200 a second. */
export const openedTogether = 64

/** The time after which a database that was away is asked again. */
const askedAgain = Duration.seconds(1)

/** Opens up to `maxLive` of them, those with the earliest deadline first, while their slots are owned. */
export const layer = ({ maxLive }: Options) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const monitors = yield* Monitors
    const ownership = yield* Ownership
    const sessions = yield* LiveSessions
    const alarm = yield* Alarm

    /** The terms whose sessions are open, or are being opened; null where there is none. */
    const terms = new Map<Slot, number | null>()
    const isMine = (slot: Slot) => ownership.term(slot) !== null && ownership.term(slot) === terms.get(slot)

    const hear = Effect.fnUntraced(function*(account: OpenSession) {
      yield* Effect.scoped(sessions.use(account, account.ref))
      yield* monitors.push(account, { at: new Date(yield* Clock.currentTimeMillis), look: false })
      yield* alarm.wake
    })

    const open = Effect.fnUntraced(function*(changed: ReadonlySet<Slot>) {
      const gained = new Set([...changed].filter((slot) => ownership.term(slot) !== null && !isMine(slot)))
      for (const slot of changed) terms.set(slot, ownership.term(slot))
      if (gained.size === 0) return
      const accounts = yield* Effect.retry(monitors.sessions(gained, maxLive), {
        schedule: Schedule.spaced(askedAgain),
        while: () => [...gained].some(isMine)
      })
      yield* Effect.forEach(
        accounts,
        (account) =>
          Effect.suspend(() =>
            isMine(slotOf(account.accountId))
              // One that cannot be opened is met again by the account's poll.
              ? Effect.ignore(hear(account))
              : Effect.void
          ),
        { concurrency: openedTogether, discard: true }
      )
    })

    yield* ownership.changes.pipe(
      Stream.runForEach((changed) => Effect.ignore(open(changed))),
      Effect.forkScoped({ startImmediately: true })
    )
  }))
