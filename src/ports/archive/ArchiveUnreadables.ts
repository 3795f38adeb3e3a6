/** The record of what did not open of archives. Each statement needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { ArchivedAccount } from "./Epochs.ts"

/** A page or tail row that did not open. */
export interface UnreadableFrames {
  readonly account: ArchivedAccount
  readonly number: bigint
}

/** The counts of frames that were not known as unreadable before. */
export interface NewlyUnreadable {
  readonly pages: number
  readonly messages: number
}

export class ArchiveUnreadables extends Context.Service<ArchiveUnreadables, {
  /** Keeps those of the numbers that are there and not known yet, and counts them. */
  note(account: ArchivedAccount, numbers: ReadonlyArray<bigint>, now: Date): Effect.Effect<NewlyUnreadable>
  /**
   * Keeps those of the saved files that are not known yet as unreadable, and counts them: 100 of an account in an hour, so
   * that a store that is away for all its files fills no journal. Later readers find the others.
   */
  noteFiles(account: ArchivedAccount, fileIds: ReadonlyArray<string>, now: Date): Effect.Effect<number>
}>()("org-security-console/ports/archive/ArchiveUnreadables") {}
