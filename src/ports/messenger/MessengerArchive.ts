/** The port through which chats are read from the messaging platform, apart from what protects the account. */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import type { ChatType } from "../../domain/archive/Chat.ts"
import type { MemberRecord, MessageRecord } from "../../domain/archive/Records.ts"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"
import type { MessengerFailure } from "./PlatformFailures.ts"

/** The adapter addresses a chat or a file again by it; stored as it is, and never shown. */
export type ChatRef = string
export type FileLocation = string

/** A chat as the account sees it. Ids of people, groups and channels never coincide. */
export interface ChatSeen {
  readonly chatId: bigint
  readonly type: ChatType
  readonly ref: ChatRef
  readonly title: string | null
  readonly username: string | null
  readonly members: number | null
  /** The platform asks its clients not to save what is in it. */
  readonly protected: boolean
  readonly joinedAt: Date | null
  readonly left: boolean
  /** The chat that continues this one. */
  readonly migratedTo: bigint | null
  /** The newest message's id; null where the answer does not say it. */
  readonly topId: bigint | null
  /** The position of its own box; null for people and basic groups, which share the common one. */
  readonly position: number | null
}

/** A file of a message; `location` expires, and a fresh answer has a fresh one. */
export interface FileSeen {
  /** The platform's id of the content: the same content has it in each message. */
  readonly messengerFile: string
  readonly name: string | null
  readonly mimeType: string
  readonly bytes: number
  readonly location: FileLocation
  /** The platform shows it once only; it is never asked for. */
  readonly once: boolean
}

/** A message as the platform answers it now. Its record has no files yet: the archive gives them ids of its own. */
export interface MessageSeen {
  readonly chatId: bigint
  readonly record: Omit<MessageRecord, "archivedAt">
  /** It changed without an edit that people see, for example by a reaction. */
  readonly editHidden: boolean
  readonly expiresAt: Date | null
  readonly files: ReadonlyArray<FileSeen>
}

/** Positions count in one: people and basic groups share the common box, each channel has its own. */
export type Box = "common" | bigint

export type ChatChange =
  | { readonly _tag: "New"; readonly message: MessageSeen }
  | { readonly _tag: "Edited"; readonly message: MessageSeen }
  /** The chat is null where the platform does not name it. */
  | { readonly _tag: "Deleted"; readonly chatId: bigint | null; readonly ids: ReadonlyArray<bigint> }
  /** Something that is not archived, such as a mark of what was read; it moves its box. */
  | { readonly _tag: "Other" }

/** A change that took its box to `position`, by `count` steps. */
export interface Pushed {
  readonly _tag: "Pushed"
  readonly box: Box
  readonly position: number
  readonly count: number
  readonly chats: ReadonlyArray<ChatSeen>
  readonly change: ChatChange
}

/** Changes of the box were lost: its difference has to be asked for. */
export interface Behind {
  readonly _tag: "Behind"
  readonly box: Box
}

export type Push = Pushed | Behind

/** The common box's state; `date` in Unix seconds. */
export interface BoxState {
  readonly position: number
  readonly date: number
  readonly qts: number
}

/** A change of a channel's box that a common difference or push only names: the channel's difference has it. */
export interface ChannelNews {
  readonly chat: ChatSeen
  readonly position: number | null
}

/** Changes in the common box since a state, with messages as they are now; those deleted meanwhile are left out. */
export type Difference =
  | {
    readonly _tag: "Since"
    readonly chats: ReadonlyArray<ChatSeen>
    readonly changes: ReadonlyArray<ChatChange>
    readonly channels: ReadonlyArray<ChannelNews>
    readonly state: BoxState
    /** There is more after `state`. */
    readonly more: boolean
  }
  /** The platform no longer knows: everything since is a gap. */
  | { readonly _tag: "TooLong"; readonly state: BoxState }

export type ChannelDifference =
  | {
    readonly _tag: "Since"
    readonly chats: ReadonlyArray<ChatSeen>
    readonly changes: ReadonlyArray<ChatChange>
    readonly position: number
    readonly more: boolean
  }
  /** The chat as it is now, with its newest messages. */
  | { readonly _tag: "TooLong"; readonly chat: ChatSeen; readonly messages: ReadonlyArray<MessageSeen> }

/** The account may not read the chat: it is private, the account was banned from it, or has left it. */
export class ChatRefused extends Schema.TaggedError<ChatRefused>()("ChatRefused", {
  reason: Schema.Literals(["private", "banned", "left", "unknown"])
}) {}

/** The platform does not know the position: as a difference that is too long. */
export class PositionRefused extends Schema.TaggedError<PositionRefused>()("PositionRefused", {}) {}

/** The location is no longer valid: a fresh answer of the message has another. */
export class FileExpired extends Schema.TaggedError<FileExpired>()("FileExpired", {}) {}

/** The content is no longer on the platform. */
export class FileGone extends Schema.TaggedError<FileGone>()("FileGone", {}) {}

/** Hears the changes of an account's chats as they are pushed, in their order; nothing comes after the end. */
export interface PushListener {
  readonly pushed: (push: Push) => void
  /** The session has ended. */
  readonly ended: () => void
}

/** Changes of an account's chats over its open session: nothing is marked as read, and no presence is shown. */
export interface ChatFeed {
  readonly state: Effect.Effect<BoxState, MessengerFailure>
  /** The chats as they are now, at most 100, and the common state. */
  peers(
    refs: ReadonlyArray<ChatRef>
  ): Effect.Effect<{ readonly chats: ReadonlyArray<ChatSeen>; readonly state: BoxState }, MessengerFailure>
  difference(since: BoxState): Effect.Effect<Difference, MessengerFailure | PositionRefused>
  channelDifference(
    ref: ChatRef,
    since: number
  ): Effect.Effect<ChannelDifference, MessengerFailure | ChatRefused | PositionRefused>
}

/** A page of the chats of an account, in the order of their newest messages; `next` is null after the last page. */
export interface ChatPage {
  readonly chats: ReadonlyArray<ChatSeen>
  readonly next: string | null
  /** Of all pages, where the platform says it. */
  readonly total: number | null
}

/** A page of a chat's history, newest first; `total` counts the messages of the whole chat, where the platform says it. */
export interface MessagePage {
  readonly messages: ReadonlyArray<MessageSeen>
  readonly total: number | null
}

/** A page of members; `next` is null after the last one. */
export interface MemberPage {
  readonly members: ReadonlyArray<Omit<MemberRecord, "seen_at">>
  readonly next: string | null
}

/** Reading of chats; nothing is marked as read by it. */
export interface ChatReader {
  /** The chats of all folders, 100 a page; one may be answered again by the page after. */
  chats(cursor: string | null): Effect.Effect<ChatPage, MessengerFailure>
  /** At most 100 messages below an id, or the newest ones. */
  history(
    ref: ChatRef,
    below: bigint | null,
    limit: number
  ): Effect.Effect<MessagePage, MessengerFailure | ChatRefused>
  /** Of at most 100 ids those that the account sees, with fresh locations of their files. */
  messages(
    ref: ChatRef,
    ids: ReadonlyArray<bigint>
  ): Effect.Effect<ReadonlyArray<MessageSeen>, MessengerFailure | ChatRefused>
  members(ref: ChatRef, cursor: string | null): Effect.Effect<MemberPage, MessengerFailure | ChatRefused>
  /** The lowest id that the account may see of the channel: what is below is hidden, not deleted. */
  visibleFrom(ref: ChatRef): Effect.Effect<bigint, MessengerFailure | ChatRefused>
  /** The content from a byte on, a multiple of 1 MiB. */
  file(
    location: FileLocation,
    from: number
  ): Stream.Stream<Uint8Array, MessengerFailure | FileExpired | FileGone>
}

/**
 * Chats of accounts on the messaging platform.
 *
 * Calls have no deadline of their own: the caller bounds them with a timeout. No call happens inside a database
 * transaction.
 */
export class MessengerArchive extends Context.Service<MessengerArchive, {
  /**
   * The feed of a session, which is opened or shared as `MessengerSession.open` does, while the scope lasts. What is
   * pushed is kept nowhere: the listener hears it, where there is one.
   */
  feed(
    sessionRef: SessionRef,
    slot?: Slot,
    listener?: PushListener
  ): Effect.Effect<ChatFeed, MessengerFailure, Scope.Scope>
  /** The reader of a session, which is opened or shared as well, while the scope lasts. */
  read(sessionRef: SessionRef, slot?: Slot): Effect.Effect<ChatReader, MessengerFailure, Scope.Scope>
}>()("org-security-console/ports/messenger/MessengerArchive") {}
