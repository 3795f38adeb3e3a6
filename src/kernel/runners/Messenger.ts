/** Operations that reach an account on the messenger. */
import { Clock, Effect } from "effect"
import { Caller } from "../../domain/Access.ts"
import type { JournalAction } from "../../domain/JournalEntry.ts"
import { SessionRef } from "../../domain/Messenger.ts"
import { Db } from "../../ports/Db.ts"
import type { Known, Messaging } from "../Context.ts"
import * as Journaling from "../Journaling.ts"
import * as Live from "../Live.ts"
import type { JournalRefusals, Note } from "../Refused.ts"
import type { Resolve, Targeting } from "../Resolve.ts"

/** Loads the account in a transaction of its own, and opens its session for as long as the operation runs. */
const open = Effect.fnUntraced(function*(resolve: Resolve, input: Targeting, note?: Note) {
  const caller = yield* Caller
  const db = yield* Db
  const now = new Date(yield* Clock.currentTimeMillis)
  const account = yield* db.read(caller.organizationId, resolve(caller, input, false))
  if (note !== undefined) note.reached = { caller, account }
  const live = yield* Live.open(
    account === undefined || account.session_ref === null ? null : SessionRef.make(account.session_ref)
  )
  return { caller, now, account, live }
})

/** Reads the messenger. */
export const runLive = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  run: (input: I, context: Known & { readonly live: Live.Live }) => Effect.Effect<A, E, R>
) =>
  Effect.fnUntraced(function*(input: I) {
    return yield* run(input, yield* open(resolve, input))
  }, Effect.scoped)

/** Changes something on the messenger: an intent before, an outcome after. */
export const runChange = <I extends Targeting, A, E, R>(
  resolve: Resolve,
  journaled: JournalAction,
  run: (input: I, context: Messaging) => Effect.Effect<A, E, R>,
  journalRefusals: JournalRefusals
) =>
  Effect.fnUntraced(function*(input: I) {
    const note: Note = { reached: undefined }
    return yield* Effect.gen(function*() {
      const context = yield* open(resolve, input, note)
      const change = Journaling.changeWith(journaled, context, context.live)
      return yield* run(input, {
        ...context,
        change: (...asked) => {
          // From here on the intent and its outcome say how it went.
          note.reached = undefined
          return change(...asked)
        }
      })
    }).pipe(Effect.scoped, journalRefusals(input, note))
  })
