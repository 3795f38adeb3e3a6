/** The epochs of accounts: which key is open, and who holds it. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ArchiveKeyId, EpochRef } from "../../domain/archive/Epoch.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** An account whose archive is read or written. */
export interface ArchivedAccount {
  readonly organizationId: OrganizationId
  readonly accountId: AccountId
}

/** A key as it is stored; null once it is shredded. */
export interface SealedEpoch {
  readonly epochId: bigint
  readonly keyId: ArchiveKeyId
  readonly sealedKey: Uint8Array | null
}

/**
 * Law: an account has one open epoch at most, and nothing is written under one that is closed. Each statement needs the
 * transaction of the organization.
 */
export class Epochs extends Context.Service<Epochs, {
  /**
   * Locks the account's archive and closes its open epoch; the id of a new one, or null where there is no such account,
   * or its organization's archive is being deleted.
   */
  begin(account: ArchivedAccount, now: Date): Effect.Effect<bigint | null>
  /** Opens the epoch that was begun in the same transaction. */
  open(ref: EpochRef, sealedKey: Uint8Array, writer: string, now: Date): Effect.Effect<void>
  /**
   * Locks the account's archive and adds an epoch that no writer holds: its key seals what a reader writes in the same
   * transaction, and nothing more. False, with nothing added, where `begin` answers null.
   */
  addClosed(ref: EpochRef, sealedKey: Uint8Array, now: Date): Effect.Effect<boolean>
  /** Locks the account's archive and then, shared, the epoch, for the rest of the transaction; false where it is closed. */
  fence(account: ArchivedAccount, epochId: bigint): Effect.Effect<boolean>
  close(account: ArchivedAccount, epochId: bigint, now: Date): Effect.Effect<void>
  /** The keys of these epochs of the account. */
  sealed(account: ArchivedAccount, epochIds: ReadonlyArray<bigint>): Effect.Effect<ReadonlyArray<SealedEpoch>>
}>()("org-security-console/ports/archive/Epochs") {}
