/** The state of capture of an account: which chats are known, and what is promised of each. */
import { Context, type Effect } from "effect"
import type { RunPhase } from "../../domain/archive/ArchiveSummary.ts"
import type { ChatEffect, ChatType } from "../../domain/archive/Chat.ts"
import type { ChatProgress } from "../../domain/archive/ChatProgress.ts"
import type { Selection } from "../../domain/archive/RuleSelection.ts"
import type { BoxState, ChatSeen } from "../messenger/MessengerArchive.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** A chat that was seen on the messenger, with what is archived of it. */
export interface CapturedChat {
  readonly chatId: bigint
  readonly type: ChatType
  readonly ref: string
  readonly effect: ChatEffect
  readonly live: boolean
  /** A cleanup has stopped it: nothing more of it is saved. */
  readonly stopped: boolean
  readonly position: number | null
  readonly progress: ChatProgress
  /** The highest id that is archived. */
  readonly lastId: bigint | null
  readonly refusedUntil: Date | null
}

/** The progress of a run, as the account shows it. */
export interface RunProgress {
  readonly phase: typeof RunPhase.Type
  readonly done: number
  readonly total: number | null
}

/** The end of a run; `error` is null where it succeeded, `retryAt` null where it is not tried before the night. */
export interface RunEnd {
  readonly error: string | null
  readonly retryAt: Date | null
  readonly nextAt: Date
  /** Everything was read. */
  readonly done: boolean
}

/** Each statement needs the transaction of the organization. */
export class CaptureStore extends Context.Service<CaptureStore, {
  /** Chats of the account that were seen on the messenger; without ids, all. */
  chats(account: ArchivedAccount, ids: ReadonlyArray<bigint> | null): Effect.Effect<ReadonlyArray<CapturedChat>>
  /** Keeps a chat as it was seen, with the rules' decision. */
  see(account: ArchivedAccount, chat: ChatSeen, selection: Selection): Effect.Effect<void>
  /** Keeps what is promised of the chat from now on; `floorAt` where its floor was seen. */
  promise(account: ArchivedAccount, chatId: bigint, progress: ChatProgress, floorAt: Date | null): Effect.Effect<void>
  /** Everything of the channel's box up to the position is archived; null where it has to be asked for. */
  setPosition(account: ArchivedAccount, chatId: bigint, position: number | null): Effect.Effect<void>
  /** The messenger refuses to read the chat. */
  refuse(account: ArchivedAccount, chatId: bigint, until: Date): Effect.Effect<void>
  /** The common box was lost for a while: none of its chats is covered up to its newest message. */
  breakEdges(account: ArchivedAccount): Effect.Effect<void>
  /** Chats that share the common box and hold one of the ids. */
  chatsOf(
    account: ArchivedAccount,
    ids: ReadonlyArray<bigint>
  ): Effect.Effect<ReadonlyArray<{ readonly chatId: bigint; readonly ids: ReadonlyArray<bigint> }>>
  /** Null before the first run. */
  state(account: ArchivedAccount): Effect.Effect<BoxState | null>
  setState(account: ArchivedAccount, state: BoxState, now: Date): Effect.Effect<void>
  begin(account: ArchivedAccount, now: Date): Effect.Effect<void>
  report(account: ArchivedAccount, progress: RunProgress): Effect.Effect<void>
  /** Counts the account's chats again. */
  count(account: ArchivedAccount): Effect.Effect<void>
  end(account: ArchivedAccount, end: RunEnd, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/archive/CaptureStore") {}
