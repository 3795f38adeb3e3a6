/** Detects outages of the messenger, and their ends, by the outcomes of the polls of the last minute. */
import { Duration } from "effect"
import { awayFailures, awayProven, awayRun, awayWindow } from "../Limits.ts"
import type { Observation } from "./Observation.ts"

/** The messenger's answer in a poll; a poll without a call shows `nothing`. */
export type LookOutcome = "failed" | "good" | "nothing"

/** The evidence of a poll about the messenger. */
export const outcomeOf = ({ lost, outcome }: Pick<Observation, "lost" | "outcome">): LookOutcome => {
  switch (outcome.kind) {
    case "seen":
    case "flood":
      return "good"
    case "unavailable":
      return outcome.error === "unavailable" ? "failed" : "good"
    case "lost":
      // A session without a key is lost without asking.
      return lost.some(({ reason }) => reason !== "never") ? "good" : "nothing"
  }
}

interface Second {
  readonly at: number
  failed: number
  good: number
}

interface Last {
  readonly at: number
  readonly good: boolean
}

/** Counts the polls of one process. */
export class OutageDetector {
  private seconds: Array<Second> = []
  private since: number | null = null
  private first: number | null = null
  private proven = false
  /**
   * While it is away: the outcome of the last poll of each account, and the number of good ones in turn that were not
   * good before.
   */
  private accounts = new Map<string, Last>()
  private run = 0

  /** The start of the outage, in ms since 1970; null while there is none. */
  get awaySince(): number | null {
    return this.since
  }

  /**
   * Counts a poll of an account, and returns true if this poll ends an outage. An outage that an earlier process has
   * reported ends when the polls of the first minute are good.
   */
  looked(now: number, account: string, outcome: LookOutcome): boolean {
    if (outcome === "nothing") return false
    this.first ??= now
    const { failed, good } = this.counted(now, outcome)
    if (this.since !== null) return this.isBack(now, this.since, account, outcome === "good")
    if (failed >= awayFailures && failed > good) {
      this.since = now
      return false
    }
    if (this.proven || outcome === "failed" || good < failed) return false
    this.proven = now - this.first >= Duration.toMillis(awayWindow)
    return this.proven
  }

  /** Counts this poll, and returns the counts of the last minute. */
  private counted(now: number, outcome: "failed" | "good") {
    const at = Math.floor(now / 1000)
    const from = at - Duration.toSeconds(awayWindow)
    this.seconds = this.seconds.filter((second) => second.at > from)
    let last = this.seconds.at(-1)
    if (last?.at !== at) {
      last = { at, failed: 0, good: 0 }
      this.seconds.push(last)
    }
    last[outcome] += 1
    const count = (of: "failed" | "good") => this.seconds.reduce((sum, second) => sum + second[of], 0)
    return { failed: count("failed"), good: count("good") }
  }

  /**
   * True if this poll ends the outage. An account that is available all the time counts once, because it proves nothing
   * about the others.
   */
  private isBack(now: number, since: number, account: string, good: boolean): boolean {
    const before = this.accounts.get(account)
    this.accounts.set(account, { at: now, good })
    if (!good) this.run = 0
    else if (before?.good !== true) this.run += 1
    if (!good || this.run < awayRun && !this.isAnswered(now, since)) return false
    this.since = null
    this.seconds = []
    this.accounts.clear()
    this.run = 0
    this.proven = true
    return true
  }

  /** True if at least half of the accounts answer, by all polls that were made for long enough. */
  private isAnswered(now: number, since: number): boolean {
    const from = now - Duration.toMillis(awayProven)
    if (since > from) return false
    let answering = 0
    for (const [account, { at, good }] of this.accounts) {
      if (at < from) this.accounts.delete(account)
      else answering += good ? 1 : -1
    }
    return answering >= 0
  }
}
