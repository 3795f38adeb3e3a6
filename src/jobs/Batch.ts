/** Changes of what is due, and their entries in the journal. */
import { Effect, Exit } from "effect"
import { byService, record } from "../changes/Record.ts"
import { type ActionName, journalAction } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { Mail } from "../domain/mail/Mail.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { Db } from "../ports/Db.ts"
import type { Due } from "../ports/Due.ts"

/** Named in the log by its id. */
type Named = string | { readonly id: string }

const idOf = (one: Named) => typeof one === "string" ? one : one.id

/** The most that a line of the log names. */
const mostNamed = 10

/**
 * Works on each, and returns the results in order. One that fails is left to the next run and stops none of the others; the
 * run fails at its end.
 */
export const eachAlone = Effect.fnUntraced(function*<A extends Named, B, E, R>(
  all: Iterable<A>,
  work: (one: A) => Effect.Effect<B, E, R>
) {
  const worked = yield* Effect.forEach(all, (one) => Effect.map(Effect.exit(work(one)), (exit) => ({ one, exit })))
  const failed = worked.filter(({ exit }) => Exit.isFailure(exit)).map(({ one }) => idOf(one))
  if (failed.length > 0) {
    yield* Effect.logWarning(`${failed.length} of ${worked.length} wait for the next run`, failed.slice(0, mostNamed))
  }
  yield* Exit.asVoidAll(worked.map(({ exit }) => exit))
  return worked.flatMap(({ exit }) => Exit.isSuccess(exit) ? [exit.value] : [])
})

/** Changes each organization's objects in a transaction of its own; returns the sum of what the changes return. */
export const changeDue = Effect.fnUntraced(function*<E, R>(
  due: ReadonlyArray<Due>,
  change: (organizationId: OrganizationId, ids: ReadonlyArray<string>) => Effect.Effect<number, E, R>
) {
  const db = yield* Db
  const objectsOf = Map.groupBy(due, ({ organizationId }) => organizationId)
  const changed = yield* eachAlone(
    objectsOf.keys(),
    (organizationId) =>
      db.transaction(organizationId, change(organizationId, objectsOf.get(organizationId)?.map(({ id }) => id) ?? []))
  )
  return changed.reduce((sum, some) => sum + some, 0)
})

/** Journals what has happened to an account. */
export const recordAccount = (
  organizationId: OrganizationId,
  name: ActionName,
  id: string,
  details: JournalDetails = {},
  mails: ReadonlyArray<Mail> = []
) => record(byService(organizationId), name, { id, accountId: id }, details, mails)

/** Journals what has happened to an organization, or to many of its accounts together. */
export const recordOrganization = (
  organizationId: OrganizationId,
  name: ActionName,
  details: JournalDetails,
  mails: ReadonlyArray<Mail> = []
) =>
  record(
    byService(organizationId),
    { ...journalAction(name), target: "organization" },
    { id: organizationId },
    details,
    mails
  )
