/** Files of archived messages: what is known of them outside their sealed pages. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { FileReason } from "../../domain/archive/FileReason.ts"
import type { FileState } from "../../domain/archive/Message.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { SealedFrames } from "./ArchivePages.ts"
import type { StoredObject } from "./BlobStore.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** A stored content: its object, and its key, sealed under an epoch's. */
export interface FileContent extends StoredObject {
  readonly epochId: bigint
  readonly key: Uint8Array
  readonly bytes: number
  readonly sha256: Uint8Array
}

export interface FoundFile {
  readonly fileId: string
  readonly accountId: AccountId
  readonly chatId: bigint
  readonly messageId: bigint
  /** The UTC day of the message. */
  readonly day: string
  readonly state: FileState
  readonly reason: FileReason | null
  /** The time of its state. */
  readonly at: Date
  /** Null unless it is saved. */
  readonly content: FileContent | null
}

/** Files by the day of their messages, newest first; within a day by chat, message and id. */
export interface FileQuery {
  readonly chatId: bigint | null
  readonly state: FileState | null
  /** The file that they come after. */
  readonly after: string | null
  readonly limit: number
}

export class ArchiveFiles extends Context.Service<ArchiveFiles, {
  /** Those of the files that are there, whichever accounts' they are: the caller of this decides who may know of them. */
  find(organizationId: OrganizationId, fileIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<FoundFile>>
  /** Files of one account alone; null where `after` is none of its files. */
  list(account: ArchivedAccount, query: FileQuery): Effect.Effect<ReadonlyArray<FoundFile> | null>
  /** The sealed messages that the files were sent with, among others. */
  frames(
    account: ArchivedAccount,
    files: ReadonlyArray<Pick<FoundFile, "chatId" | "day" | "messageId">>
  ): Effect.Effect<ReadonlyArray<SealedFrames & { readonly chatId: bigint }>>
}>()("org-security-console/ports/archive/ArchiveFiles") {}
