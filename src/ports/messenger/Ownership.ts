/**
 * The right to use the keys of the service's sessions on the messenger, which ends a key that two processes use.
 *
 * The guard of an account excludes concurrent acts; this excludes concurrent connections, which outlive acts.
 */
import { Context, Effect, Layer, Stream } from "effect"

/** The state of the lease as far as a process knows it. */
export interface LeaseState {
  /** The term under which this process watches; null where it does not. */
  readonly term: number | null
  /** The place of another process that watches, as that process names it; null where none is known. */
  readonly elsewhere: string | null
}

export class Ownership extends Context.Service<Ownership, {
  /**
   * The term under which keys may be used at this very moment; null where they may not.
   *
   * Called right before each use, without waiting: a process that was frozen must not use a key when it wakes, because
   * another one may have it by then.
   */
  readonly current: () => number | null
  readonly state: Effect.Effect<LeaseState>
  /** each new state from now on. */
  readonly changes: Stream.Stream<LeaseState>
}>()("org-security-console/ports/messenger/Ownership") {
  /** For a database that no other process can use: its directory is locked, or it lives in this process. */
  static readonly layerAlone = Layer.succeed(Ownership, {
    current: () => 1,
    state: Effect.succeed({ term: 1, elsewhere: null }),
    changes: Stream.never
  })

  /** A process that never watches. */
  static readonly layerNever = Layer.succeed(Ownership, {
    current: () => null,
    state: Effect.succeed({ term: null, elsewhere: null }),
    changes: Stream.never
  })
}
