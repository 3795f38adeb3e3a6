import { describe, expect, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { TestClock } from "effect/testing"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { GiveWay } from "../../src/capture/CaptureSteps.ts"
import { takePushes } from "../../src/capture/LiveCapture.ts"
import { drawnOf } from "../support/capture/drawnNumbers.ts"
import { claimedRun, countingSteps, livingProcess } from "../support/capture/livingProcess.ts"
import { account, rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"
import { Platform } from "../support/capture/modelPlatform.ts"

describe("the watch beside a run", () => {
  it.effect("goes before each step of it, and no push waits", () =>
    Effect.gen(function*() {
      const platform = new Platform(drawnOf(1), 0)
      for (const chat of platform.chats.values()) platform.send(chat, null)
      const { feed, reader } = platform
      const stored = new Stored()
      stored.setRules([rule(null, "archive", true)])
      let [steps, waits] = [0, 0]
      const counted = countingSteps(livingProcess(stored), () => void (steps += 1)).pipe(
        Context.add(GiveWay, { take: Effect.sync(() => void (waits += 1)) })
      )
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), counted)
      expect(steps).toBeGreaterThan(20)
      expect(waits).toBe(steps)
      const behind = Effect.provideContext(takePushes(account, feed, [{ _tag: "Behind", box: "common" }]), counted)
      yield* Effect.all([behind, TestClock.adjust("1 second")], { concurrency: "unbounded" })
      expect(steps).toBeGreaterThan(waits)
    }))
})
