import { describe, expect, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { TestClock } from "effect/testing"
import { runCapture, type RunConnections } from "../../src/capture/CaptureRun.ts"
import { GiveWay } from "../../src/capture/CaptureSteps.ts"
import { takePushes } from "../../src/capture/LiveCapture.ts"
import { drawnOf } from "../support/capture/drawnNumbers.ts"
import { claimedRun, countingSteps, livingProcess, stage } from "../support/capture/livingProcess.ts"
import { account, rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"
import { Platform } from "../support/capture/modelPlatform.ts"

describe("a night in which nothing is new", () => {
  it.effect("takes no step but those that store what a call has answered", () =>
    Effect.gen(function*() {
      const { platform: { feed, reader }, process } = stage()
      let [steps, calls] = [0, 0]
      const counting = <A>(call: A): A => {
        calls += 1
        return call
      }
      const counted: RunConnections = {
        ...unpaced,
        feed: {
          ...feed,
          difference: (since) => counting(feed.difference(since)),
          channelDifference: (ref, since) => counting(feed.channelDifference(ref, since))
        },
        reader: {
          ...reader,
          chats: (cursor) =>
            Effect.tap(
              reader.chats(cursor),
              ({ chats }) => Effect.sync(() => void (calls += chats.length > 0 ? 1 : 0))
            ),
          history: (ref, below, limit) => counting(reader.history(ref, below, limit))
        }
      }
      const run = Effect.provideContext(
        runCapture(claimedRun, counted),
        countingSteps(process, () => void (steps += 1))
      )
      yield* run
      steps = calls = 0
      yield* run
      expect(calls).toBeGreaterThan(2)
      expect(steps).toBe(calls)
    }))
})

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
      const behind = Effect.provideContext(takePushes(account, [{ _tag: "Behind", box: "common" }]), counted)
      yield* Effect.all([behind, TestClock.adjust("1 second")], { concurrency: "unbounded" })
      expect(steps).toBeGreaterThan(waits)
    }))
})
