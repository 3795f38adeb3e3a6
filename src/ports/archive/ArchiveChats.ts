/** The chats of accounts, with what is archived of each. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ArchiveTotals } from "../../domain/archive/ArchiveAccount.ts"
import type { ChatType, StoredChat } from "../../domain/archive/Chat.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { SealedFrames } from "./ArchivePages.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** A page of an account's chats, the last message first. */
export interface ChatQuery {
  readonly type: ChatType | undefined
  readonly selected: boolean | undefined
  readonly after: bigint | undefined
  readonly limit: number
}

/** A chat with the sealed page of its title; null before one is written. */
export interface SealedChat extends StoredChat {
  readonly info: SealedFrames | null
}

/** Each statement needs the transaction of the organization. */
export class ArchiveChats extends Context.Service<ArchiveChats, {
  /** One more than `limit` where more follow; null where the account has no chat to start after. */
  list(account: ArchivedAccount, query: ChatQuery): Effect.Effect<ReadonlyArray<SealedChat> | null>
  find(account: ArchivedAccount, chatId: bigint): Effect.Effect<SealedChat | null>
  /** Those of the chats that the account has. */
  some(account: ArchivedAccount, chatIds: ReadonlyArray<bigint>): Effect.Effect<ReadonlyArray<SealedChat>>
  /** The number of these chats that the account has. */
  known(account: ArchivedAccount, chatIds: ReadonlyArray<bigint>): Effect.Effect<number>
  /** The page with the chat's members; null before one is written. */
  members(account: ArchivedAccount, chatId: bigint): Effect.Effect<SealedFrames | null>
  totals(organizationId: OrganizationId, accountIds: ReadonlyArray<AccountId>): Effect.Effect<
    ReadonlyMap<AccountId, ArchiveTotals>
  >
  /** Adds the chat, or keeps what is known of it now. */
  see(account: ArchivedAccount, chatId: bigint, type: ChatType, leftAt: Date | null): Effect.Effect<void>
  /** Names the page of the chat's title, or of its members. */
  describe(account: ArchivedAccount, chatId: bigint, what: "chat" | "members", page: bigint): Effect.Effect<void>
  /** Sets if the chat is archived from its beginning. */
  setComplete(account: ArchivedAccount, chatId: bigint, complete: boolean): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveChats") {}
