import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { playCapture } from "../support/capture/captureHistory.ts"

/** Histories that are played here; `npm run properties -- --property capture` plays many more. */
const histories = 40

describe("what is captured, after any history of writing, lost pushes, changed rules and killed processes", () => {
  it.live("is what the account sees, and each law of it holds at every commit", () =>
    Effect.gen(function*() {
      for (let sequence = 1; sequence <= histories; sequence++) {
        expect((yield* playCapture(sequence)).breaches).toEqual([])
      }
    }), 60_000)
})
