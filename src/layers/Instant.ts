/**
 * A moment by both clocks of the host: a machine that was suspended, or whose clock was set, is past it by one of them.
 */

/** The monotonic clock stops while the machine is suspended, and the wall clock can be set; in milliseconds. */
export interface Instant {
  readonly monotonic: number
  readonly wall: number
}

export const hostInstant = (): Instant => ({
  monotonic: Number(process.hrtime.bigint() / 1_000_000n),
  wall: Date.now()
})

/** Whichever clock is past the moment first ends it. */
export const isBefore = (now: Instant, end: Instant): boolean => now.monotonic < end.monotonic && now.wall < end.wall

export const plus = ({ monotonic, wall }: Instant, millis: number): Instant => ({
  monotonic: monotonic + millis,
  wall: wall + millis
})
