/** Intents of changes outside the database that have no outcome yet. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { TargetType } from "../../domain/journal/JournalEntry.ts"
import type { JournalEvent } from "../../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The place of an intent. */
export interface PendingChange {
  readonly organization_id: OrganizationId
  readonly sequence: number
}

export type PendingIntent = Pick<JournalEvent, "action" | "account_id" | "details"> & {
  readonly target_type: TargetType
  readonly target_id: string
}

export class PendingChanges extends Context.Service<PendingChanges, {
  /** The intents of all organizations whose time is over at the moment; all of them for null. */
  due(now: Date | null): Effect.Effect<ReadonlyArray<PendingChange>, ServiceUnavailable>
  /** The intent, within the organization's transaction. */
  find(pending: PendingChange): Effect.Effect<PendingIntent | null>
}>()("org-security-console/ports/journal/PendingChanges") {}
