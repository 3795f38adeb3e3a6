/** Files of archived messages that wait for their contents. Each statement needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { FailureReason, SkipReason } from "../../domain/archive/FileReason.ts"
import type { ArchivedAccount } from "./Epochs.ts"

export interface WaitingFile {
  readonly fileId: string
  readonly chatId: bigint
  readonly messageId: bigint
}

/** Files that were given up for the reason. */
export interface FailedFiles {
  readonly reason: FailureReason
  readonly files: number
}

export interface FileRetry {
  readonly now: Date
  readonly retryAt: Date
  readonly tries: number
}

export class WaitingFiles extends Context.Service<WaitingFiles, {
  /** Small ones of one saved chat, or large ones where no small ones are left, the newest first, that may be tried at this time. */
  next(account: ArchivedAccount, at: Date, limit: number): Effect.Effect<ReadonlyArray<WaitingFile>>
  /** The number of those that wait in chats that are saved. */
  count(account: ArchivedAccount): Effect.Effect<number>
  isPending(account: ArchivedAccount, fileId: string): Effect.Effect<boolean>
  /** They are left out; one that was saved already stays. */
  skip(account: ArchivedAccount, files: ReadonlyArray<string>, reason: SkipReason, now: Date): Effect.Effect<void>
  /** They are given up. */
  giveUp(account: ArchivedAccount, files: ReadonlyArray<string>, reason: FailureReason, now: Date): Effect.Effect<void>
  /** Those of the account that were given up. */
  failed(account: ArchivedAccount): Effect.Effect<ReadonlyArray<FailedFiles>>
  /** They were not tried, and are not before this time. */
  postpone(account: ArchivedAccount, files: ReadonlyArray<string>, retryAt: Date): Effect.Effect<void>
  /** They are tried again from `retryAt` on, and given up after so many tries. */
  refuse(account: ArchivedAccount, files: ReadonlyArray<string>, retry: FileRetry): Effect.Effect<void>
}>()("org-security-console/ports/archive/WaitingFiles") {}
