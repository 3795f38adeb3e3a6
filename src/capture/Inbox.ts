/** Pushes of an account until they are taken. */
import { Effect } from "effect"
import type { Behind, Box, Push, PushListener } from "../ports/messenger/MessengerArchive.ts"
import * as CaptureMetrics from "./CaptureMetrics.ts"

/** Bytes that wait of a session, and of all of a process. A box of which a push is given up is asked for its difference. */
const sessionLimit = 64 * 1024
const processLimit = 32 * 1024 * 1024

const noBoxes: ReadonlySet<Box> = new Set()

/** Bytes that the value takes in memory, about: of an object the members' places and its own header too. */
const sizeOf = (value: unknown): number => {
  if (typeof value === "string") return 2 * value.length
  if (typeof value !== "object" || value === null) return 0
  let bytes = 24
  for (const member of Object.values(value)) bytes += 8 + sizeOf(member)
  return bytes
}

/** The place that the inboxes of a process share. */
export class InboxSpace {
  private bytes = 0

  /** Answers if there is place for so many bytes. */
  take(bytes: number): boolean {
    if (this.bytes + bytes > processLimit) return false
    this.bytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.bytes -= bytes
  }
}

interface Waiting {
  readonly push: Push
  readonly bytes: number
}

/** Calls `wake` with each push and with the end of the session. */
export class Inbox implements PushListener {
  private readonly wake: () => void
  private readonly space: InboxSpace
  private kept: Array<Waiting> = []
  private bytes = 0
  private behind = noBoxes
  private lost = 0
  private over = false

  constructor(wake: () => void, space: InboxSpace) {
    this.wake = wake
    this.space = space
  }

  /** Something can be taken, or nothing ever will. */
  get isDue(): boolean {
    return this.over || this.kept.length > 0 || this.lost > 0
  }

  /** The session has ended, and everything is taken. */
  get isOver(): boolean {
    return this.over && this.kept.length === 0 && this.lost === 0
  }

  readonly pushed = (push: Push): void => {
    const bytes = sizeOf(push)
    // One alone may be larger.
    const fits = this.kept.length === 0 || this.bytes + bytes <= sessionLimit
    if (fits && this.space.take(bytes)) {
      this.kept.push({ push, bytes })
      this.bytes += bytes
    } else {
      if (!this.behind.has(push.box)) this.behind = new Set([...this.behind, push.box])
      this.lost += 1
    }
    this.wake()
  }

  readonly ended = (): void => {
    this.over = true
    this.wake()
  }

  /** Gives back the place of what is left, and counts that as lost: nobody takes it any more. */
  get giveUp(): Effect.Effect<void> {
    return Effect.suspend(() => CaptureMetrics.dropped(this.remove(this.kept.length).length + this.lost))
  }

  private remove(limit: number): ReadonlyArray<Push> {
    const removed = this.kept.splice(0, limit)
    const bytes = removed.reduce((sum, { bytes }) => sum + bytes, 0)
    this.bytes -= bytes
    this.space.giveBack(bytes)
    return removed.map(({ push }) => push)
  }

  /** Takes at most so many, in their order; after the first ones the boxes of which some were given up. */
  take(limit: number): Effect.Effect<ReadonlyArray<Push>> {
    return Effect.suspend(() => {
      const pushes = this.remove(limit)
      if (this.lost === 0) return Effect.succeed(pushes)
      const missing = [...this.behind].map((box): Behind => ({ _tag: "Behind", box }))
      const counted = CaptureMetrics.dropped(this.lost)
      this.behind = noBoxes
      this.lost = 0
      return Effect.as(counted, [...pushes, ...missing])
    })
  }
}
