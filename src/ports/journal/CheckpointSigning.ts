/** The signing of journals' heads into one chain of checkpoints over all of them. */
import { Context, type Effect, Schema } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Checkpoint } from "../../domain/journal/Checkpoint.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { BrokenChain } from "./ChainChecks.ts"

/** The database no longer has a checkpoint that this process has seen in it. */
export class CheckpointsLost extends Schema.TaggedError<CheckpointsLost>()("CheckpointsLost", { number: Schema.Int }) {
  override get message(): string {
    return `The database has lost checkpoint ${this.number}, which it had: nothing is signed until an operator has looked.`
  }
}

/** A checkpoint that this process has not seen continues the chain without a signature of its key. */
export class CheckpointForged
  extends Schema.TaggedError<CheckpointForged>()("CheckpointForged", { number: Schema.Int })
{
  override get message(): string {
    return `Checkpoint ${this.number} in the database is forged: nothing is signed until an operator has looked.`
  }
}

/** A journal whose head is not what was signed last. */
export interface DueJournal {
  readonly organization: OrganizationId
  readonly last: Checkpoint | null
}

/** A journal that was read again from its last checkpoint on, and where its head is. */
export interface ReadJournal extends DueJournal {
  readonly head: { readonly sequence: number; readonly hash: string }
}

/** An event that is late for its signature. */
export interface LateEvent {
  readonly organization: string
  readonly sequence: number
  readonly at: Date
}

export class CheckpointSigning extends Context.Service<CheckpointSigning, {
  /** The id of the key that signs. */
  readonly keyId: string
  /** The first event of each journal that should have been signed by now and was not. */
  readonly late: Effect.Effect<ReadonlyArray<LateEvent>, ServiceUnavailable>
  /** So many journals after an organization: those that were not signed in this minute, or all. */
  due(after: string, all: boolean, limit: number): Effect.Effect<ReadonlyArray<DueJournal>, ServiceUnavailable>
  /**
   * Holds the journal within the organization's transaction; returns whether the key of its last checkpoint is known,
   * null where the journal says since that another one signs.
   */
  holdForKeyChange(organizationId: OrganizationId, last: Checkpoint): Effect.Effect<boolean | null>
  /** Reads the journal again from its last checkpoint to its head. */
  read(journal: DueJournal): Effect.Effect<ReadJournal | BrokenChain, ServiceUnavailable>
  /** Stores that a chain is broken, and returns whether that was not known. */
  markBroken(organizationId: OrganizationId, sequence: number, now: Date): Effect.Effect<boolean, ServiceUnavailable>
  /** Signs the heads of those that no other process has signed meanwhile, and returns how many. */
  sign(
    journals: ReadonlyArray<ReadJournal>,
    now: Date
  ): Effect.Effect<number, CheckpointsLost | CheckpointForged | ServiceUnavailable>
}>()("org-security-console/ports/journal/CheckpointSigning") {}
