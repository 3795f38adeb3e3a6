/** Writing of archives: sealed as it arrives, by a process that holds no password. */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { ChatType } from "../../domain/archive/Chat.ts"
import type { ArchiveKeyId } from "../../domain/archive/Epoch.ts"
import type { ChatRecord, DeletionRecord, MemberRecord, MessageRecord } from "../../domain/archive/Records.ts"
import type { FrameTooLarge } from "../../domain/archive/Unreadable.ts"
import type { ContentBroken } from "../../domain/Content.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { BlobStoreFailed } from "./BlobStore.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** Another writer has taken the account over: nothing was written, and nothing more will be. */
export class WriterReplaced extends Schema.TaggedError<WriterReplaced>()("WriterReplaced", {}) {}

/** There is no such account, or its organization's archive is being deleted. */
export class NoSuchAccount extends Schema.TaggedError<NoSuchAccount>()("NoSuchAccount", {}) {}

/** The public half of the organization's archive key. */
export interface SealingKey {
  readonly keyId: ArchiveKeyId
  readonly publicKey: Uint8Array
}

/** A message as the messenger answers it now; `details.edited_at` tells its revisions apart. */
export type SeenMessage = Omit<MessageRecord, "archivedAt">

/** A chat as it was seen. */
export interface SeenChat {
  readonly chatId: bigint
  readonly type: ChatType
  readonly leftAt: Date | null
  readonly info: Omit<ChatRecord, "seen_at">
}

/** The content of a file, as the messenger has it. */
export interface NewContent<E, R> {
  /** The messenger's id of the content: the same content has it in each message. */
  readonly messengerFile: string
  /** As announced; a content of another size is not stored. */
  readonly bytes: number
  readonly content: Stream.Stream<Uint8Array, E, R>
}

/**
 * `stored`: it was read and sealed. `known`: the account has that content already, and nothing was read. `gone`: the file
 * is not there any more, or has a content.
 */
export type FileStored = "stored" | "known" | "gone"

/** `live`: one by one, in the day's tail. `sweep`: many, immediately in pages. */
export type WritingPath = "live" | "sweep"

type Writing<A> = Effect.Effect<A, WriterReplaced | FrameTooLarge>

/**
 * The archive of one account, which this process alone writes; no member returns a text or a key. All but `close`,
 * `renew` and `storeFile` run inside the transaction of the organization that the caller commits; the chat was seen before.
 */
export interface AccountArchive {
  /** The number of frames that it has sealed. */
  frames(): number
  /** Keeps what is known of the chats. */
  see(...chats: ReadonlyArray<SeenChat>): Writing<void>
  setMembers(chatId: bigint, members: ReadonlyArray<Omit<MemberRecord, "seen_at">>): Writing<void>
  /** Stores new messages and new revisions of known ones, which `late` ones precede; the ids that were new. */
  append(
    chatId: bigint,
    messages: ReadonlyArray<SeenMessage>,
    path: WritingPath,
    late?: "late"
  ): Writing<ReadonlyArray<bigint>>
  /** Records that the account no longer sees these messages; those that are not archived are left out. */
  mark(chatId: bigint, ids: ReadonlyArray<bigint>, why: DeletionRecord["why"], path: WritingPath): Writing<void>
  /** Makes pages of full tails and of days that ended ten minutes ago, or of all, in transactions of its own. */
  close(which: "due" | "all"): Effect.Effect<void, WriterReplaced | FrameTooLarge | ServiceUnavailable>
  /**
   * Stores the content of a file that was appended, in transactions of its own; what fails leaves nothing that can be
   * read. A content of the account that is stored already is not read again.
   */
  storeFile<E, R>(
    fileId: string,
    content: NewContent<E, R>
  ): Effect.Effect<FileStored, WriterReplaced | ServiceUnavailable | BlobStoreFailed | ContentBroken | E, R>
  /** Begins a new epoch where the key is another one, or the epoch is a week old or nearly full. */
  renew(key: SealingKey): Effect.Effect<void, WriterReplaced | FrameTooLarge | ServiceUnavailable>
}

/** Law: after a takeover the one before writes nothing more, whatever it had begun. */
export class ArchiveWriter extends Context.Service<ArchiveWriter, {
  /** Takes the account over until the scope closes; `writer` is a UUID of the process. */
  own(
    account: ArchivedAccount,
    key: SealingKey,
    writer: string
  ): Effect.Effect<AccountArchive, NoSuchAccount | ServiceUnavailable, Scope.Scope>
}>()("org-security-console/ports/archive/ArchiveWriter") {}
