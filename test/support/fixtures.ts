/** What tests write into an organization besides what the product offers. */
import { Effect } from "effect"
import { operator } from "../../src/domain/journal/Actor.ts"
import {
  type ActionName,
  commandLine,
  journalAction,
  type JournalEntry,
  journalEntry
} from "../../src/domain/journal/JournalEntry.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { Db } from "../../src/ports/Db.ts"

/** Runs what is done in an organization in one transaction of it. */
export const within = <A, E, R>(organizationId: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Db, (db) => db.transaction(OrganizationId.make(organizationId), effect))

/** The entry of what an operator did to the organization. */
export const operatorEntry = (action: ActionName, organizationId: string): JournalEntry =>
  journalEntry(operator, commandLine, journalAction(action), { targetId: organizationId })
