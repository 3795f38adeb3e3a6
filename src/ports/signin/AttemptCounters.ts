/** The counters of attempts at passwords, codes and links. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"

/** The key of a counter, and the number of its failures that are free. */
export interface Counter {
  readonly key: string
  readonly free: number
}

/** Outside any organization: each statement is committed by itself. */
export class AttemptCounters extends Context.Service<AttemptCounters, {
  /** Counts an attempt and returns null, or the seconds to wait, where it counts nothing. */
  count(counter: Counter): Effect.Effect<number | null, ServiceUnavailable>
  /** Takes back an attempt that was no failure; who waits only because of it waits no more. */
  takeBack(counter: Counter): Effect.Effect<void, ServiceUnavailable>
  clear(counter: Counter): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/signin/AttemptCounters") {}
