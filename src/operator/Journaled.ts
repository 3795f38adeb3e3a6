/** Changes by an operator, each in one transaction with its entry. */
import { Clock, Effect, type Schema } from "effect"
import { byOperator, record, type Target } from "../changes/Record.ts"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { ActionName } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { Db } from "../ports/Db.ts"
import { Directory } from "../ports/organization/Directory.ts"
import { refuse, useCase } from "./UseCase.ts"

/** The moment of the request. */
export const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

/** An operator's action, as it is journaled. */
export interface Entry {
  readonly action: ActionName
  readonly target: Target
  readonly details: JournalDetails
}

export const entry = (action: ActionName, id: string, details: JournalDetails = {}): Entry => ({
  action,
  target: { id },
  details
})

/** The entry of what an operator did to an account. */
export const accountEntry = (action: ActionName, accountId: AccountId, details: JournalDetails): Entry => ({
  action,
  target: { id: accountId, accountId },
  details
})

/** The result, with its entry, null where nothing changed, and what is mailed because of it. */
export type JournaledResult<A> =
  | readonly [answer: A, entry: Entry | null]
  | readonly [answer: A, entry: Entry, mails: ReadonlyArray<Mail>]

/** Runs the change and appends its entry in one transaction of the organization. */
export const journaled = Effect.fnUntraced(function*<A, E, R>(
  organizationId: OrganizationId,
  change: Effect.Effect<JournaledResult<A>, E, R>
) {
  const db = yield* Db
  return yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const [answer, made, mails] = yield* change
      if (made !== null) yield* record(byOperator(organizationId), made.action, made.target, made.details, mails)
      return answer
    })
  )
})

/** An organization that exists, and the moment of the request. */
export interface OrganizationAt {
  readonly id: OrganizationId
  readonly at: Date
}

/** Declares a use case that is one change of an organization: it runs in one transaction with its entry. */
export const change = <
  const Name extends string,
  Input extends Schema.Top & { readonly Type: { readonly organization: string } },
  Output extends Schema.Top,
  E,
  R
>(
  name: Name,
  input: Input,
  output: Output,
  run: (input: Input["Type"], of: OrganizationAt) => Effect.Effect<JournaledResult<Output["Type"]>, E, R>
) =>
  useCase(name, input, output, (said) =>
    Effect.gen(function*() {
      const id = yield* existing(said.organization)
      const at = yield* now
      return yield* journaled(id, run(said, { id, at }))
    }))

/** The id of an organization that exists, or a refusal. */
export const existing = Effect.fnUntraced(function*(id: string) {
  const found = yield* (yield* Directory).find(id)
  return (found ?? (yield* refuse(`There is no organization ${id}.`))).id
})
