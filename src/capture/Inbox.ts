/** Pushes of an account until they are taken. */
import { Effect } from "effect"
import type { Behind, Box, Push, PushListener } from "../ports/messenger/MessengerArchive.ts"
import * as CaptureMetrics from "./CaptureMetrics.ts"

/** A box of which a push is given up is asked for its difference. */
const pushesKept = 256

const noBoxes: ReadonlySet<Box> = new Set()

/** Calls `wake` with each push and with the end of the session. */
export class Inbox implements PushListener {
  private readonly wake: () => void
  private kept: Array<Push> = []
  private behind = noBoxes
  private lost = 0
  private over = false

  constructor(wake: () => void) {
    this.wake = wake
  }

  /** Something can be taken, or nothing ever will. */
  get isDue(): boolean {
    return this.over || this.kept.length > 0
  }

  /** The session has ended, and everything is taken. */
  get isOver(): boolean {
    return this.over && this.kept.length === 0
  }

  readonly pushed = (push: Push): void => {
    if (this.kept.length < pushesKept) this.kept.push(push)
    else {
      this.behind = new Set([...this.behind, push.box])
      this.lost += 1
    }
    this.wake()
  }

  readonly ended = (): void => {
    this.over = true
    this.wake()
  }

  /** Takes at most so many, in their order; after the first ones the boxes of which some were given up. */
  take(limit: number): Effect.Effect<ReadonlyArray<Push>> {
    return Effect.suspend(() => {
      const pushes = this.kept.splice(0, limit)
      if (this.lost === 0) return Effect.succeed(pushes)
      const missing = [...this.behind].map((box): Behind => ({ _tag: "Behind", box }))
      const counted = CaptureMetrics.dropped(this.lost)
      this.behind = noBoxes
      this.lost = 0
      return Effect.as(counted, [...pushes, ...missing])
    })
  }
}
