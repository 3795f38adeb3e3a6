/** Whether the messenger can be reached at all, by how the looks of the last minute have gone. */
import { Duration } from "effect"
import { awayFailures, awayWindow } from "../Limits.ts"
import type { Outcome } from "./Observation.ts"

/** Whether the messenger answered, whatever it said. */
export const isReached = (outcome: Outcome): boolean =>
  outcome.kind !== "unavailable" || outcome.error !== "unavailable"

interface Second {
  readonly at: number
  failed: number
  good: number
}

/** Counts the looks of one process. */
export class Reachability {
  private seconds: Array<Second> = []
  private since: number | null = null
  private answered = false

  /** Since when the messenger is away, in ms; null while it is not. */
  get awaySince(): number | null {
    return this.since
  }

  /** A look has ended; answers whether the messenger is back with it, as it is with the first good look of a process. */
  looked(now: number, reached: boolean): boolean {
    const at = Math.floor(now / 1000)
    const from = at - Duration.toSeconds(awayWindow)
    this.seconds = this.seconds.filter((second) => second.at > from)
    let last = this.seconds.at(-1)
    if (last?.at !== at) {
      last = { at, failed: 0, good: 0 }
      this.seconds.push(last)
    }
    if (reached) last.good += 1
    else last.failed += 1
    if (reached) {
      const back = this.since !== null || !this.answered
      if (this.since !== null) this.seconds = []
      this.since = null
      this.answered = true
      return back
    }
    const count = (of: "failed" | "good") => this.seconds.reduce((sum, second) => sum + second[of], 0)
    if (this.since === null && count("failed") >= awayFailures && count("failed") > count("good")) this.since = now
    return false
  }
}
