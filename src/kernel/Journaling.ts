/** How operations are journaled: an entry beside the change, or an intent before and an outcome after. */
import { Effect, Exit } from "effect"
import type { Caller } from "../domain/Access.ts"
import type { AccountFacts } from "../domain/Account.ts"
import * as Actor from "../domain/Actor.ts"
import type { Failure, ServiceUnavailable } from "../domain/Failure.ts"
import { type JournalAction, type JournalEntry, journalEntry } from "../domain/JournalEntry.ts"
import type { JournalDetails, JournalOutcome } from "../domain/JournalEvent.ts"
import { Accounts } from "../ports/Accounts.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/Journal.ts"
import type { Live, LiveWriter } from "./Live.ts"

interface Context {
  readonly caller: Caller["Service"]
  readonly account: AccountFacts | undefined
  /** What the change was made to, where neither path nor caller says. */
  readonly targetId?: string | undefined
}

/**
 * Journals the intent, makes the change, and journals the outcome together with `settle`, which keeps what follows from
 * the change in the database.
 *
 * Changes of one account that overlap may settle in another order than the messenger made them, so that the last of them
 * asks `again` what the messenger has now, and settles that.
 */
export type Change = <A, E extends Failure, R1, R2>(
  details: JournalDetails,
  act: (live: LiveWriter) => Effect.Effect<A, E, R1>,
  settle: (result: A) => Effect.Effect<void, never, R2>,
  again: (live: Live) => Effect.Effect<A, Failure>
) => Effect.Effect<A, E | ServiceUnavailable, R1 | R2 | Accounts | Db | Journal>

/** The entry of what the caller did. */
export const entry = (
  journaled: JournalAction,
  { account, caller, targetId }: Context,
  outcome: JournalOutcome,
  details: JournalDetails,
  closes?: number
): JournalEntry =>
  journalEntry(Actor.caller(caller), caller, journaled, {
    targetId: targetId ?? (journaled.target === "account" && account !== undefined
      ? account.id
      : journaled.target === "admin"
      ? caller.adminId
      : caller.organizationId),
    accountId: account?.id ?? null,
    outcome,
    details,
    ...(closes === undefined ? {} : { closes })
  })

/** How a change on the messenger is journaled: the intent commits before, the outcome with what follows from it after. */
export const changeWith = (
  journaled: JournalAction,
  context: Context,
  live: Live & LiveWriter
): Change =>
(details, act, settle, again) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const db = yield* Db
      const journal = yield* Journal
      const { account, caller } = context
      const { organizationId } = caller
      const intent = yield* db.transaction(
        organizationId,
        journal.begin(organizationId, entry(journaled, context, "pending", details))
      )
      const exit = yield* Effect.exit(restore(act(live)))
      const failure = Exit.findErrorOption(exit)
      const known = exit._tag === "Success" ? details : {
        ...details,
        error: failure._tag === "Some" ? failure.value._tag : "interrupted",
        certain: failure._tag === "Some" && failure.value._tag !== "messenger_unavailable"
      }
      const others = (since: "begun" | "closed") =>
        account === undefined
          ? Effect.succeed(false)
          : journal.othersDone(organizationId, account.id, intent.sequence, since)
      const overlapped = yield* db.transaction(
        organizationId,
        Effect.gen(function*() {
          if (exit._tag === "Success") yield* settle(exit.value)
          yield* journal.close(
            organizationId,
            intent.sequence,
            entry(journaled, context, exit._tag === "Success" ? "done" : "failed", known, intent.sequence)
          )
          return exit._tag === "Success" && (yield* others("begun"))
        })
      )
      if (overlapped && account !== undefined) {
        yield* restore(again(live)).pipe(
          Effect.flatMap((latest) =>
            db.transaction(
              organizationId,
              Effect.gen(function*() {
                yield* accounts.find(caller, account.id, true)
                if (!(yield* others("closed"))) yield* settle(latest)
              })
            )
          ),
          Effect.ignore
        )
      }
      return yield* exit
    })
  )
