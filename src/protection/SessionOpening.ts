/** Opens the sessions of accounts whose slots this process has got: their pushes are heard before their next polls. */
import { Effect, Layer, Stream } from "effect"
import type { Slot } from "../domain/accounts/Slot.ts"
import { LiveSessions, type Options } from "../messenger/OpenSessions.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Monitors } from "../ports/protection/Monitors.ts"

/** The number of sessions that are being opened at the same time; the connections follow each other at 200 a second. */
const openedTogether = 64

/** Opens up to `maxLive` of them, those with the earliest deadline first. */
export const layer = ({ maxLive }: Options) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const monitors = yield* Monitors
    const ownership = yield* Ownership
    const sessions = yield* LiveSessions

    const open = Effect.fnUntraced(function*(changed: ReadonlySet<Slot>) {
      const gained = new Set([...changed].filter((slot) => ownership.term(slot) !== null))
      if (gained.size === 0) return
      const accounts = yield* monitors.sessions(gained, maxLive)
      yield* Effect.forEach(
        accounts,
        // One that cannot be opened is met again by the account's poll.
        (account) => Effect.ignore(Effect.scoped(sessions.use(account, account.ref))),
        { concurrency: openedTogether, discard: true }
      )
    })

    yield* ownership.changes.pipe(
      Stream.runForEach((changed) => Effect.ignore(open(changed))),
      Effect.forkScoped({ startImmediately: true })
    )
  }))
