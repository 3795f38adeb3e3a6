/**
 * The right to use the keys of the service's sessions on the messenger, which kills a key that two processes use.
 *
 * The guard of an account excludes acts; this excludes connections, which outlive them.
 */
import { Context, Effect, Layer, Stream } from "effect"

/** What a process knows of who watches. */
export interface Standing {
  /** The term under which this process watches; null where it does not. */
  readonly term: number | null
  /** Where another process watches, as that one says; null where none is known. */
  readonly elsewhere: string | null
}

export class Ownership extends Context.Service<Ownership, {
  /**
   * The term under which keys may be used at this very moment; null where they may not.
   *
   * Asked right before each use, without waiting: a process that was frozen must not use a key when it wakes, for another
   * one may have it by then.
   */
  readonly current: () => number | null
  readonly standing: Effect.Effect<Standing>
  /** Each new standing from now on. */
  readonly changes: Stream.Stream<Standing>
}>()("org-security-console/engine/Ownership") {
  /** Nobody else can use the database: its directory is locked, or lives in this process. */
  static readonly layerAlone = Layer.succeed(Ownership, {
    current: () => 1,
    standing: Effect.succeed({ term: 1, elsewhere: null }),
    changes: Stream.never
  })

  /** A process that never watches. */
  static readonly layerNever = Layer.succeed(Ownership, {
    current: () => null,
    standing: Effect.succeed({ term: null, elsewhere: null }),
    changes: Stream.never
  })
}
