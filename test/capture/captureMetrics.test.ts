import { describe, expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { TestClock } from "effect/testing"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { catchUp, catchUpChannel } from "../../src/capture/Differences.ts"
import { Inbox } from "../../src/capture/Inbox.ts"
import { takePushes } from "../../src/capture/LiveCapture.ts"
import { type ChatFeed, PositionRefused } from "../../src/ports/messenger/MessengerArchive.ts"
import { drawnOf } from "../support/capture/drawnNumbers.ts"
import { claimedRun, livingProcess } from "../support/capture/livingProcess.ts"
import { account, rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"
import { Platform } from "../support/capture/modelPlatform.ts"
import { withOwnMetrics } from "../support/metrics.ts"

const channel = -1_000_000_000_301n

/** The states of the metric, by one of its labels. */
const states = (name: string, label: string) =>
  Effect.map(
    Metric.snapshot,
    (all) => new Map(all.filter(({ id }) => id === name).map(({ attributes, state }) => [attributes?.[label], state]))
  )

/** An account that was archived by a run, whose messenger has two new messages. */
const stage = Effect.gen(function*() {
  const platform = new Platform(drawnOf(1), 0)
  for (const chat of platform.chats.values()) platform.send(chat, null)
  const stored = new Stored()
  stored.setRules([rule(null, "archive", true)])
  const process = livingProcess(stored)
  const { feed, reader } = platform
  yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
  return { platform, process, stored }
})

describe("the measures of archiving", () => {
  it.effect("have the time of each phase of a run", () =>
    Effect.gen(function*() {
      yield* stage
      const phases = yield* states("console_archive_run_seconds", "phase")
      expect([...phases.keys()].toSorted()).toEqual(["dialogs", "finishing", "media", "messages", "starting"])
      for (const state of phases.values()) expect(state).toMatchObject({ count: 1 })
    }).pipe(withOwnMetrics))

  it.effect("count what was lost, by the kind of box, where the messenger no longer knows", () =>
    Effect.gen(function*() {
      const { platform, process } = yield* stage
      const forgetful: ChatFeed = {
        ...platform.feed,
        difference: () => Effect.fail(new PositionRefused()),
        channelDifference: () => Effect.fail(new PositionRefused())
      }
      yield* Effect.provideContext(catchUp(account, null, forgetful), process)
      yield* Effect.provideContext(catchUpChannel(account, null, forgetful, channel), process)
      const counts = yield* states("console_archive_gaps_total", "box")
      expect(counts.get("common")).toMatchObject({ count: 1 })
      expect(counts.get("channel")).toMatchObject({ count: 1 })
    }).pipe(withOwnMetrics))

  it.effect("have how long after it was sent a message was archived", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = yield* stage
      const chat = platform.chats.get(101n)
      if (chat === undefined) return expect.fail("The chat is missing")
      const pushes = platform.sendUntilPushed(chat)
      stored.keepState({ position: platform.common.position - 1, date: 0, qts: 0 })
      yield* TestClock.adjust("7 seconds")
      yield* Effect.provideContext(takePushes(account, platform.feed, pushes), process)
      const [behind] = (yield* states("console_archive_behind_seconds", "none")).values()
      expect(behind).toMatchObject({ max: 7 })
    }).pipe(withOwnMetrics))

  it.effect("count the pushes that nobody has taken in time, and ask for the differences of their boxes", () =>
    Effect.gen(function*() {
      const inbox = new Inbox(() => {})
      for (let position = 1; position <= 300; position++) {
        inbox.pushed({ _tag: "Pushed", box: "common", position, count: 1, chats: [], change: { _tag: "Other" } })
      }
      const taken = yield* inbox.take(100)
      expect(taken.map((push) => push._tag === "Pushed" ? push.position : push)).toEqual([
        ...Array.from({ length: 100 }, (_, at) => at + 1),
        { _tag: "Behind", box: "common" }
      ])
      expect(yield* inbox.take(300)).toHaveLength(156)
      const [dropped] = (yield* states("console_archive_pushes_dropped_total", "none")).values()
      expect(dropped).toMatchObject({ count: 44 })
    }).pipe(withOwnMetrics))
})
