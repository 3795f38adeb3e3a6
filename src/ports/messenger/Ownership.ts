/**
 * The right to use the keys of the service's sessions on the messenger, which ends a key that two processes use.
 *
 * The guard of an account excludes concurrent acts; this excludes concurrent connections, which outlive acts. Each slot
 * of accounts belongs to one process at a time.
 */
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import { everySlot, type Slot } from "../../domain/accounts/Slot.ts"

/** Closes what uses keys of the slots. */
export type CloseSlots = (slots: ReadonlySet<Slot>) => Effect.Effect<void>

export class Ownership extends Context.Service<Ownership, {
  /**
   * The term under which keys of the slot may be used at this very moment; null where they may not. A slot that passes
   * to another process, or comes back, has another term. Without a slot it is not null where every slot is owned.
   *
   * Called right before each use, without waiting: a process that was frozen must not use a key when it wakes, because
   * another one may have it by then.
   */
  readonly term: (slot?: Slot) => number | null
  /** The slots whose term is not null at this moment. */
  readonly owned: () => ReadonlySet<Slot>
  /** The slots that are owned already, and then those whose terms change. */
  readonly changes: Stream.Stream<ReadonlySet<Slot>>
  /**
   * Has `close` called with slots that are to be given away, whose terms are null by then, for as long as the scope
   * lasts. No other process gets them before it is done.
   */
  readonly closing: (close: CloseSlots) => Effect.Effect<void, never, Scope.Scope>
}>()("org-security-console/ports/messenger/Ownership") {
  /** For a database that no other process can use: its directory is locked, or it lives in this process. */
  static readonly layerAlone = Layer.succeed(Ownership, {
    term: () => 1,
    owned: () => everySlot,
    changes: Stream.never,
    closing: () => Effect.void
  })

  /** A process that never watches. */
  static readonly layerNever = Layer.succeed(Ownership, {
    term: () => null,
    owned: () => new Set(),
    changes: Stream.never,
    closing: () => Effect.void
  })
}
