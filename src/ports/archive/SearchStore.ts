/** The sealed input of a search of the archive: blocks of vocabularies, and pages. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The accounts that are searched, by their organization; all times are Unix seconds. */
export interface SearchScope {
  readonly organizationId: OrganizationId
  readonly accountIds: ReadonlyArray<AccountId>
  /** Chats of the accounts; null for all. */
  readonly chatIds: ReadonlyArray<bigint> | null
  /** Messages sent then or later; null for all. */
  readonly since: number | null
  /** Messages sent before; null for all. */
  readonly until: number | null
}

/**
 * A page, or a row of the tail as a page of one record. Law: no record in it is about a message that was sent before
 * `firstAt` or after `lastAt`, in Unix seconds.
 */
export interface SearchPage {
  readonly accountId: AccountId
  readonly chatId: bigint
  readonly number: bigint
  readonly day: string
  readonly kind: "messages" | "changes"
  readonly firstAt: number
  readonly lastAt: number
  readonly messages: number
  /** True where chat and message ids are the platform's own: other accounts have copies of the same messages. */
  readonly shared: boolean
}

/** The name of a page or of a row of the tail. */
export type PageName = Pick<SearchPage, "accountId" | "number">

/**
 * A sealed vocabulary of pages, which are named in the order of its postings: by their `lastAt`, the newest first. The law
 * of a page's times holds too.
 */
export interface SearchBlock {
  readonly accountId: AccountId
  readonly blockId: bigint
  readonly firstAt: number
  readonly lastAt: number
  readonly epochId: bigint
  readonly fold: number
  readonly pages: ReadonlyArray<bigint>
  readonly sealed: Uint8Array
}

/** A page with its frames. */
export interface SealedSearchPage {
  readonly page: SearchPage
  /** The messages in it; none where it has changes. */
  readonly ids: ReadonlyArray<bigint>
  readonly sealed: Uint8Array
}

/** A list goes on after the block or page with this time and number. */
export interface ListPosition {
  readonly lastAt: number
  readonly number: bigint
}

/** Texts that say if something has moved between two lists. */
export interface ListStamps {
  /** Another one once a block of the accounts was added or dropped. */
  readonly blocks: string
  /** Another one once a loose page of the accounts was added: one of new pages, or in place of rows of the tail. */
  readonly loose: string
}

type Read<A> = Effect.Effect<A, ServiceUnavailable>

/**
 * Laws: nothing of another account or organization is answered; each page of the scope's accounts is in exactly one
 * block, or loose; a page that was rewritten is another page, in no block.
 */
export class SearchStore extends Context.Service<SearchStore, {
  stamps(scope: SearchScope): Read<ListStamps>
  /**
   * Blocks of the accounts with `firstAt` at or before `below`, by time, then number, highest first; with `part` only
   * until so many sealed bytes have come, and those that are known without theirs.
   */
  blocks(
    scope: SearchScope,
    below: number,
    after: ListPosition | null,
    limit: number,
    part?: { readonly bytes: number; readonly known: ReadonlyArray<bigint> }
  ): Read<ReadonlyArray<SearchBlock>>
  /** Pages without a block and rows of the tail, in the scope, in the same order. */
  loose(scope: SearchScope, below: number, after: ListPosition | null, limit: number): Read<ReadonlyArray<SearchPage>>
  /** Those of the pages that are still there, in the scope, in the same order. */
  pages(scope: SearchScope, named: ReadonlyArray<PageName>, below: number): Read<ReadonlyArray<SearchPage>>
  /** The frames of pages that are still there, in the order of the pages. */
  sealed(scope: SearchScope, pages: ReadonlyArray<PageName>): Read<ReadonlyArray<SealedSearchPage>>
  /** The pages, each once, that may hold messages of a chat as they were first seen, if sent in the scope's time. */
  messages(
    scope: SearchScope,
    accountId: AccountId,
    chatId: bigint,
    messageIds: ReadonlyArray<bigint>
  ): Read<ReadonlyArray<SealedSearchPage>>
}>()("org-security-console/ports/archive/SearchStore") {}
