/** The state of capture of an account: which chats are known, and what is promised of each. */
import { Context, type Effect } from "effect"
import type { RunPhase } from "../../domain/archive/ArchiveSummary.ts"
import type { CapturedChat } from "../../domain/archive/CapturedChat.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { BoxState } from "../messenger/MessengerArchive.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** The progress of a run, as the account shows it. */
export interface RunProgress {
  readonly phase: typeof RunPhase.Type
  readonly done: number
  readonly total: number | null
  /** The title of the chat that it reads; null where it reads none. */
  readonly chat: string | null
}

/** The end of a run; `error` is null where it succeeded, `retryAt` null where it is not tried before the night. */
export interface RunEnd {
  readonly error: string | null
  readonly retryAt: Date | null
  readonly nextAt: Date
  /** Everything was read. */
  readonly done: boolean
  /** The time since when an admin waits for the next run; null where none does. */
  readonly askedAt: Date | null
}

/** The account at the end of a run: if it is the first one that read everything, and the messages that are archived. */
export interface BackedUp {
  readonly isFirst: boolean
  readonly messages: number
}

/** Messages of the chats that are saved: those that are archived, of all that the messenger has or had. */
export interface MessagesRead {
  readonly done: number
  /** As the messenger counts them, of the chats that it has counted. */
  readonly total: number
  /** Chats that it has not counted yet. */
  readonly uncounted: number
}

/** A message that disappears on the messenger so long after it was sent. */
export interface ExpiringMessage {
  readonly id: bigint
  readonly sentAt: Date
  readonly expiresAt: Date
}

/** Each statement needs the transaction of the organization. */
export class CaptureStore extends Context.Service<CaptureStore, {
  /** Chats of the account that were seen on the messenger; without ids, all, those with the newest messages first. */
  chats(account: ArchivedAccount, ids: ReadonlyArray<bigint> | null): Effect.Effect<ReadonlyArray<CapturedChat>>
  /** Chats with a box of their own of which changes are archived as they happen. */
  liveChannels(account: ArchivedAccount): Effect.Effect<ReadonlyArray<CapturedChat>>
  /** Chats that one of these continues. */
  predecessors(account: ArchivedAccount, ids: ReadonlyArray<bigint>): Effect.Effect<ReadonlyArray<CapturedChat>>
  /** Keeps a chat as it was seen and judged, or a new one. */
  see(account: ArchivedAccount, chat: CapturedChat): Effect.Effect<void>
  /** Keeps what is promised of the chat from now on, and nothing that rules decide. */
  keep(account: ArchivedAccount, chat: CapturedChat): Effect.Effect<void>
  /** The lowest archived id of each chat that was sent at or after the time; of a small chat the lowest of all. */
  firstSince(
    account: ArchivedAccount,
    ids: ReadonlyArray<bigint>,
    since: Date
  ): Effect.Effect<ReadonlyMap<bigint, bigint>>
  /** Chats that share the common box and hold one of the ids. */
  chatsOf(
    account: ArchivedAccount,
    ids: ReadonlyArray<bigint>
  ): Effect.Effect<ReadonlyArray<{ readonly chatId: bigint; readonly ids: ReadonlyArray<bigint> }>>
  /** Notes the times at which messages of the chat disappear. */
  expect(
    account: ArchivedAccount,
    chatId: bigint,
    messages: ReadonlyArray<ExpiringMessage>
  ): Effect.Effect<void>
  /** Archived chats whose messages may disappear before a nightly run, and that are not archived as they arrive. */
  unsafe(account: ArchivedAccount, now: Date): Effect.Effect<number>
  messagesRead(account: ArchivedAccount): Effect.Effect<MessagesRead>
  /** Those of the ids whose time has run out. */
  expired(
    account: ArchivedAccount,
    chatId: bigint,
    ids: ReadonlyArray<bigint>,
    now: Date
  ): Effect.Effect<ReadonlySet<bigint>>
  /** Forgets messages whose time has run out, the longest ago first, and answers them. */
  takeExpired(
    account: ArchivedAccount,
    now: Date,
    limit: number
  ): Effect.Effect<ReadonlyArray<{ readonly chatId: bigint; readonly id: bigint }>>
  /** True where the time of a message has run out. */
  hasExpired(account: ArchivedAccount, now: Date): Effect.Effect<boolean>
  /** Null before the first run. */
  state(account: ArchivedAccount): Effect.Effect<BoxState | null>
  setState(account: ArchivedAccount, state: BoxState, now: Date): Effect.Effect<void>
  begin(account: ArchivedAccount, now: Date): Effect.Effect<void>
  /** Stores how far the run is, the title sealed, and where it enters another phase, since when and from where on. */
  report(account: ArchivedAccount, progress: RunProgress, now: Date): Effect.Effect<void>
  /** Counts the account's chats again. */
  count(account: ArchivedAccount): Effect.Effect<void>
  /** Keeps the number of messages that counted as archived and were not, or not as they are, as a run has just found. */
  drift(account: ArchivedAccount, messages: number): Effect.Effect<void>
  /** One that failed before it began is not waited for any more; one that was asked for meanwhile is. */
  end(account: ArchivedAccount, end: RunEnd, now: Date): Effect.Effect<BackedUp>
  /** The name of the time zone in whose nights the organization's runs begin. */
  timeZone(organizationId: OrganizationId): Effect.Effect<string>
}>()("org-security-console/ports/archive/CaptureStore") {}
