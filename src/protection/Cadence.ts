/**
 * The rate at which a process queries for due accounts: rarely where there are few, and immediately where some wait.
 */

/** The number of accounts for one statement to take: asking more often costs more, and less often makes polls late. */
const wanted = 100

/** Between two rounds, in ms. What another process writes is found after the longest pause. */
export const shortestPause = 250
export const longestPause = 3000

/** After an alarm, in ms: most transactions are committed by the first of them, and the others by the second. */
export const afterAlarm = 50
const againAfterAlarm = 1000

/** A timer may go off a moment early. */
const margin = 5

export class Cadence {
  private lastBegan = 0
  private next = 0
  private alarmed = false

  /** The next round begins because of an alarm. */
  rang(): void {
    this.alarmed = true
  }

  /** A round has ended though there is more: the next one follows immediately. */
  cut(began: number, now: number): void {
    this.next = now
    this.lastBegan = began
    this.alarmed = false
  }

  /** A round is over that took so many accounts; an account is pressing next at that moment. All times in ms. */
  ended(began: number, now: number, taken: number, pressing: Date | null): void {
    const elapsed = Math.max(1, began - this.lastBegan)
    const pause = Math.min(longestPause, Math.max(shortestPause, wanted * elapsed / Math.max(1, taken)))
    this.next = Math.min(
      now + pause,
      pressing === null ? Infinity : Math.max(pressing.getTime() + margin, now + shortestPause),
      this.alarmed ? now + againAfterAlarm : Infinity
    )
    this.lastBegan = began
    this.alarmed = false
  }

  /** The wait for the next round, in ms; one that fails is tried again after the longest pause. */
  wait(now: number): number {
    const wait = Math.max(0, this.next - now)
    this.next = now + wait + longestPause
    return wait
  }
}
