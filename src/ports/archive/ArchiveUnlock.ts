/** The opening of an organization's archive for one request. */
import { Context, type Effect, type Redacted, type Scope, type Stream } from "effect"
import type { EpochKey, EpochRef } from "../../domain/archive/Epoch.ts"
import type { ArchiveUnreadable } from "../../domain/archive/Unreadable.ts"
import type {
  ArchivePasswordInvalid,
  ArchivePasswordRequired,
  BridgeRequired,
  ServiceUnavailable,
  TooManyAttempts
} from "../../domain/Failure.ts"
import type { Caller } from "../../domain/people/Access.ts"
import type { ArchiveKey } from "./ArchiveKeys.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** The keys of epochs of one organization. */
export interface OpenedKeys {
  /**
   * The key of an epoch, from its sealed form; it is kept for the next requests of the same password. Fails for an epoch
   * that is sealed to another key pair.
   */
  epochKey(ref: EpochRef, sealedKey: Uint8Array): Effect.Effect<EpochKey, ArchiveUnreadable>
  /**
   * The key of an epoch that requests before have opened. Its sealed form is not looked for again: it is deleted with its
   * account or its archive alone, and a request that finds these there began before.
   */
  readonly keptEpoch?: (account: ArchivedAccount, epochId: bigint) => EpochKey | undefined
  /** Called for each page and tail row that did not open, where that is to be noted. */
  readonly missed?: (account: ArchivedAccount, number: bigint) => void
}

/** The opened archive of one organization; nothing of it is used after its scope, but by work that was begun in it. */
export interface Unlocked extends OpenedKeys {
  /** The key pair that new epochs are sealed to. */
  readonly key: ArchiveKey
  /**
   * True where the password is that of a key pair that this one has replaced: what is sealed to that one alone opens, and
   * all else counts as unreadable, without being damaged or lost.
   */
  readonly isReplaced: boolean
  /**
   * The opened key pair's seed, sealed under a secret of 256 random bits that the connection's code or token is: 60 bytes.
   */
  storedUnder(secret: Redacted.Redacted, connectionId: string): Effect.Effect<Uint8Array>
  /** Runs short work beside what follows; the archive stays open for it, and it ends with the process at the latest. */
  afterwards<R>(work: Effect.Effect<void, never, R>): Effect.Effect<void, never, R>
  /**
   * Bytes that are made by the opened archive after the request was answered: it stays open while they are read. They
   * fail with `gone` where it was closed before they began to be.
   */
  during<E, R>(
    gone: E,
    bytes: (archive: Pick<Unlocked, "epochKey">) => Stream.Stream<Uint8Array, E, R>
  ): Stream.Stream<Uint8Array, E, R>
}

export type UnlockFailure =
  | ArchivePasswordRequired
  | ArchivePasswordInvalid
  | BridgeRequired
  | TooManyAttempts
  | ServiceUnavailable

/**
 * Opens archives by the password that a request carries, or by what the request's token keeps.
 *
 * Law: no `Unlocked` outlives its scope and the work that was begun in it. A password comes before what is kept; it is counted before it is derived, for its credential and for its
 * organization, and the count is taken back where it is right; a wrong one is journaled. The attempt commits by itself,
 * so that it never runs inside a transaction.
 */
export class ArchiveUnlock extends Context.Service<ArchiveUnlock, {
  open(
    caller: Caller["Service"],
    key: ArchiveKey
  ): Effect.Effect<Unlocked, UnlockFailure, Scope.Scope>
}>()("org-security-console/ports/archive/ArchiveUnlock") {}
