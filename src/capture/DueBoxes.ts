/** Boxes of an account whose differences are to be asked for; only what shows them to be due is kept, in memory. */
import type { Box } from "../ports/messenger/MessengerArchive.ts"

/** The times in ms before which none is asked for; those that were added or asked for last come last. */
export class DueBoxes {
  private readonly times = new Map<Box, number>()

  /** One that waits already goes on waiting. */
  add(boxes: Iterable<Box>): void {
    for (const box of boxes) if (!this.times.has(box)) this.times.set(box, 0)
  }

  isDue(at: number): boolean {
    return this.next(at) !== undefined
  }

  /** Takes the one that has waited the longest. */
  take(at: number): Box | undefined {
    const box = this.next(at)
    if (box !== undefined) this.times.delete(box)
    return box
  }

  /** The box is not asked for before the time. */
  postpone(box: Box, until: number): void {
    this.times.set(box, until)
  }

  /** Neither the box nor any other is asked for before the time. */
  postponeAll(box: Box, until: number): void {
    this.times.set(box, until)
    for (const [other, time] of this.times) this.times.set(other, Math.max(time, until))
  }

  private next(at: number): Box | undefined {
    for (const [box, time] of this.times) if (time <= at) return box
    return undefined
  }
}
