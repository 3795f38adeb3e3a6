import { describe, expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { TestClock } from "effect/testing"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { catchUp, catchUpChannel } from "../../src/capture/Differences.ts"
import { Inbox, InboxSpace } from "../../src/capture/Inbox.ts"
import { takePushes } from "../../src/capture/LiveCapture.ts"
import { type ChatFeed, PositionRefused, type Push } from "../../src/ports/messenger/MessengerArchive.ts"
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

const textLength = 1000

/** A message of a person as it is pushed, with a text of that length. */
const pushOf = (position: number, length = textLength): Push => ({
  _tag: "Pushed",
  box: "common",
  position,
  count: 1,
  chats: [],
  change: {
    _tag: "New",
    message: {
      chatId: 7n,
      record: { id: BigInt(position), at: 1, from: null, kind: "text", text: "a".repeat(length), details: {} },
      editHidden: false,
      expiresAt: null,
      files: []
    }
  }
})

const fillInbox = (inbox: Inbox, pushes: number) => {
  for (let position = 1; position <= pushes; position++) inbox.pushed(pushOf(position))
}

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
      yield* Effect.provideContext(takePushes(account, pushes), process)
      const [behind] = (yield* states("console_archive_behind_seconds", "none")).values()
      expect(behind).toMatchObject({ max: 7 })
    }).pipe(withOwnMetrics))

  it.effect("count the pushes that nobody has taken in time, and ask for the differences of their boxes", () =>
    Effect.gen(function*() {
      const inbox = new Inbox(() => {}, new InboxSpace())
      fillInbox(inbox, 1000)
      const taken = yield* inbox.take(10)
      expect(taken.map((push) => push._tag === "Pushed" ? push.position : push)).toEqual([
        ...Array.from({ length: 10 }, (_, at) => at + 1),
        { _tag: "Behind", box: "common" }
      ])
      const rest = (yield* inbox.take(1000)).length
      const [dropped] = (yield* states("console_archive_pushes_dropped_total", "none")).values()
      expect(dropped).toMatchObject({ count: 990 - rest })
    }).pipe(withOwnMetrics))
})

describe("pushes that wait", () => {
  const waitingBytes = (inbox: Inbox) =>
    Effect.map(inbox.take(1000), (taken) => 2 * textLength * taken.filter(({ _tag }) => _tag === "Pushed").length)

  it.effect("take at most 64 KiB of a session, but for one that is larger by itself", () =>
    Effect.gen(function*() {
      const inbox = new Inbox(() => {}, new InboxSpace())
      fillInbox(inbox, 1000)
      const bytes = yield* waitingBytes(inbox)
      expect(bytes).toBeLessThan(64 * 1024)
      expect(bytes).toBeGreaterThan(32 * 1024)
      inbox.pushed(pushOf(1, 100_000))
      expect(yield* inbox.take(1000)).toHaveLength(1)
    }).pipe(withOwnMetrics))

  it.effect("take at most 32 MiB of a process, until they are taken, or nobody takes them any more", () =>
    Effect.gen(function*() {
      const space = new InboxSpace()
      const inboxes = Array.from({ length: 1000 }, () => new Inbox(() => {}, space))
      for (const inbox of inboxes) fillInbox(inbox, 50)
      const fresh = new Inbox(() => {}, space)
      fresh.pushed(pushOf(1, 10_000))
      expect(fresh.isDue).toBe(true)
      expect(yield* fresh.take(10)).toEqual([{ _tag: "Behind", box: "common" }])
      yield* Effect.forEach(inboxes.slice(0, 10), (inbox) => inbox.giveUp)
      fresh.pushed(pushOf(2, 10_000))
      expect(yield* fresh.take(10)).toMatchObject([{ position: 2 }])
      const bytes = yield* Effect.forEach(inboxes, waitingBytes)
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(32 * 1024 * 1024)
      expect(bytes.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0))
    }).pipe(withOwnMetrics))
})
