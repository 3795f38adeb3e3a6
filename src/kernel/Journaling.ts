/** The journaling of operations: an entry with the change, or an intent before and an outcome after. */
import { Effect } from "effect"
import { append } from "../changes/Append.ts"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import * as Actor from "../domain/journal/Actor.ts"
import { type JournalAction, type JournalEntry, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails, JournalOutcome } from "../domain/journal/JournalEvent.ts"
import type { Caller } from "../domain/people/Access.ts"
import type { Further } from "./Context.ts"

interface Context {
  readonly caller: Caller["Service"]
  readonly account: AccountFacts | undefined
  /** The changed object, where neither path nor caller names it. */
  readonly targetId?: string | undefined
}

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

/** Journals what happened besides, each mail with its event. */
export const further = Effect.fnUntraced(function*(caller: Caller["Service"], events: ReadonlyArray<Further> = []) {
  for (const { journal: action, mails, ...happened } of events) {
    yield* append(caller.organizationId, journalEntry(Actor.caller(caller), caller, action, happened), mails)
  }
})
