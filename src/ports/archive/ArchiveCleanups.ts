/** Cleanups as they are stored. All but `due` need the transaction of the organization. */
import { Context, type Effect } from "effect"
import type {
  CleanupCounts,
  CleanupCriteria,
  CleanupId,
  CleanupState,
  StoredCleanup
} from "../../domain/archive/ArchiveCleanup.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"
import type { Due } from "../Due.ts"

/**
 * The last page and tail row of each account: what is numbered higher came later. It is taken with the counts: of a
 * preview, and of a cleanup that waited when it begins.
 */
export type Watermark = Readonly<Record<string, { readonly page: string; readonly tail: string }>>

/** A page of cleanups, the newest first. */
export interface CleanupQuery {
  readonly state: CleanupState | undefined
  readonly after: CleanupId | undefined
  readonly limit: number
}

/** The counts of a cleanup as of now, and up to where they go. */
export interface MeasuredCleanup extends CleanupCounts {
  readonly watermark: Watermark
}

/** A cleanup that is to delete, or is deleting. */
export interface RunningCleanup extends StoredCleanup {
  readonly organizationId: OrganizationId
  readonly watermark: Watermark
  /** Accounts, from the first on, of which nothing is left to delete. */
  readonly emptied: number
}

/** Sums of all that a cleanup has deleted. */
export interface CleanedUp {
  readonly pages: number
  readonly messages: number
  readonly files: number
  readonly bytes: number
}

export class ArchiveCleanups extends Context.Service<ArchiveCleanups, {
  /** Locks the accounts' archives, so that no record of them is being written, and counts. */
  measure(organizationId: OrganizationId, criteria: CleanupCriteria): Effect.Effect<MeasuredCleanup>
  add(organizationId: OrganizationId, cleanup: Omit<StoredCleanup, "id">, mark: Watermark): Effect.Effect<CleanupId>
  /** The cleanups after `after` whose accounts the caller can access; null where that is none of them. */
  list(caller: Caller["Service"], query: CleanupQuery, now: Date): Effect.Effect<ReadonlyArray<StoredCleanup> | null>
  /** Null where the caller cannot access all its accounts. */
  find(caller: Caller["Service"], id: CleanupId): Effect.Effect<StoredCleanup | null>
  /** As `find`, for the rest of the transaction. */
  lock(caller: Caller["Service"], id: CleanupId): Effect.Effect<StoredCleanup | null>
  /** Queues it; with `stopSaving` nothing more of its chats is archived. */
  confirm(organizationId: OrganizationId, cleanup: StoredCleanup, by: string): Effect.Effect<void>
  /**
   * Ends it; unless it is done, what it stopped goes on, but for chats that another one of `stopSaving` names and that no
   * later rule has archived.
   */
  end(
    organizationId: OrganizationId,
    cleanup: StoredCleanup,
    state: "cancelled" | "done" | "expired" | "failed",
    error: string | null,
    now: Date
  ): Effect.Effect<CleanedUp>
  /**
   * Cleanups of all organizations that are to delete now, or whose preview has ended: the first of each organization,
   * which waits for no other one, then the second of each.
   */
  due(now: Date, limit: number): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /**
   * Locks it; null where it has ended or waits for its time, another process is at it, or another one of its accounts has
   * to end first: one that runs, or an older one that does not wait.
   */
  take(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<RunningCleanup | null>
  /** Marks it as running, with its accounts and what it deletes. */
  begin(cleanup: RunningCleanup, now: Date): Effect.Effect<void>
  /**
   * Deletes at most so many pages, tail rows or files, and counts them; or goes on to the next account. False once
   * nothing of any account is left to delete.
   */
  deleteSome(cleanup: RunningCleanup, limit: number, now: Date): Effect.Effect<boolean>
}>()("org-security-console/ports/archive/ArchiveCleanups") {}
