/** The runs that read what archives lack, across organizations: a process takes an account first, and gives it back. */
import { Context, type Effect } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** A run that this process has claimed. */
export interface ClaimedRun extends ArchivedAccount {
  readonly fence: number
  /** Runs that failed in a row before it. */
  readonly failures: number
  /** The time when an admin asked for it; null where none did. */
  readonly askedAt: Date | null
}

/** The next run of an account, and how many failed in a row. */
export interface NextRun {
  readonly at: Date
  readonly failures: number
  /** The time since when an admin waits for it; null where none does. */
  readonly askedAt: Date | null
}

export class ArchiveRuns extends Context.Service<ArchiveRuns, {
  /** Gives watched accounts that have none a run that is due now. */
  readonly addMissing: Effect.Effect<void, ServiceUnavailable>
  /**
   * Takes accounts of the slots whose run is due until `until`, those that are waited for first. An organization with
   * `ofOrganization` runs has further ones where no other waits, and none while the messenger counts as away for it.
   */
  claim(slots: ReadonlySet<Slot>, limit: number, ofOrganization: number, until: Date): Effect.Effect<
    ReadonlyArray<ClaimedRun>,
    ServiceUnavailable
  >
  /** Watched accounts of the slots of which something was captured, at most so many: what is pushed is archived too. */
  begun(slots: ReadonlySet<Slot>, limit: number): Effect.Effect<ReadonlyArray<ArchivedAccount>, ServiceUnavailable>
  /** Renews the claim inside the transaction of the organization; false where it was lost. */
  renew(run: ClaimedRun, until: Date): Effect.Effect<boolean>
  /** Gives the account back inside the transaction; an admin who asked meanwhile has the next run now. False where it was lost. */
  finish(run: ClaimedRun, next: NextRun): Effect.Effect<boolean>
  /** Lets the account's next run begin at the time, unless it begins before, inside the transaction. */
  hasten(account: ArchivedAccount, at: Date): Effect.Effect<void>
  /** Makes the account's run due inside the transaction of the organization; false where one was asked for already. */
  request(account: ArchivedAccount, now: Date): Effect.Effect<boolean>
}>()("org-security-console/ports/archive/ArchiveRuns") {}
