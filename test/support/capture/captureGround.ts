/** A store in which histories of capture are archived, and processes that die over it. */
import { Context, type Effect } from "effect"
import type { RuleInEffect } from "../../../src/domain/archive/ArchiveRule.ts"
import type { CapturedChat } from "../../../src/domain/archive/CapturedChat.ts"
import type { KnownRevision } from "../../../src/domain/archive/Revisions.ts"
import type { ArchivedAccount } from "../../../src/ports/archive/Epochs.ts"

/** A revision; its text is its mark. */
export type Revision = Omit<KnownRevision, "place">

/** A message as the archive answers it. */
export interface Archived {
  readonly revisions: ReadonlyArray<Revision>
  readonly newest: string | null
  readonly deleted: boolean
}

/** The process was killed at a commit. */
export class Killed {
  readonly _tag = "Killed"
}

export interface Commits {
  /** Answers if the process dies at this commit, and where. */
  readonly dies: () => "before" | "after" | null
  /** Is run after each commit. */
  readonly committed: Effect.Effect<void>
}

/** Law A9: no call waits inside a transaction, so that no look waits for a call of the archive. */
export const InTransaction = Context.Reference<boolean>("test/capture/InTransaction", { defaultValue: () => false })

export type ArchivedIds = Pick<ReadonlySet<bigint>, "has" | "size">

export interface CaptureGround {
  readonly account: ArchivedAccount
  /** The services of another process, whose transactions follow each other; it begins after the one before has died. */
  readonly newProcess: (
    commits: Commits,
    breach: (law: string) => void
  ) => Effect.Effect<Context.Context<any>>
  /** Replaces the account's rules, and judges its chats again. */
  readonly setRules: (rules: ReadonlyArray<RuleInEffect>) => Effect.Effect<void>
  readonly chats: Effect.Effect<ReadonlyMap<bigint, CapturedChat>>
  /** The archived ids of each chat. */
  readonly ids: Effect.Effect<ReadonlyMap<bigint, ArchivedIds>>
  /** The texts of all revisions of a message. */
  readonly texts: (chatId: bigint, id: bigint) => Effect.Effect<ReadonlyArray<string | null>>
  readonly archived: Effect.Effect<ReadonlyMap<bigint, ReadonlyMap<bigint, Archived>>>
  /** The number of chats and accounts whose counters are wrong. */
  readonly miscounted: Effect.Effect<number>
}
