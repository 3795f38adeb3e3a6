/** The making of vocabularies for pages that have none. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { SealedFrames } from "./ArchivePages.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** Pages of messages or of changes without a vocabulary, of one account and calendar quarter. */
export interface LoosePages {
  readonly accountId: AccountId
  readonly kind: "messages" | "changes"
  /** Newest first. */
  readonly pages: ReadonlyArray<bigint>
}

/** A page without a vocabulary. */
export interface LoosePage extends SealedFrames {
  readonly chatId: bigint
  readonly kind: "messages" | "changes"
  readonly messages: number
}

/** A sealed vocabulary to store. */
export interface NewBlock {
  readonly blockId: bigint
  readonly epochId: bigint
  readonly fold: number
  /** In the order of its postings, newest first. */
  readonly pages: ReadonlyArray<bigint>
  readonly sealed: Uint8Array
}

/** Law: a page is in one block at most. Each statement needs the transaction of the organization. */
export class SearchBlocks extends Context.Service<SearchBlocks, {
  /** Groups with `least` pages or more, the largest ones, each with its newest `limit` pages. */
  due(
    organizationId: OrganizationId,
    accountIds: ReadonlyArray<AccountId>,
    least: number,
    limit: number
  ): Effect.Effect<ReadonlyArray<LoosePages>>
  /** Those of the pages that are still there without a block, newest first. */
  loose(account: ArchivedAccount, pages: ReadonlyArray<bigint>): Effect.Effect<ReadonlyArray<LoosePage>>
  /** The numbers of a new block, and of a new epoch. */
  numbers: Effect.Effect<{ readonly blockId: bigint; readonly epochId: bigint }>
  /**
   * Locks the account's archive, and stores the block; false where one of its pages has gone or has a block meanwhile,
   * after which the transaction must not commit.
   */
  add(account: ArchivedAccount, block: NewBlock): Effect.Effect<boolean>
}>()("org-security-console/ports/archive/SearchBlocks") {}
