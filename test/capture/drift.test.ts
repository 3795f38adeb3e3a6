import { describe, expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { compareOne } from "../../src/capture/Drift.ts"
import { afterSighting } from "../../src/domain/archive/CapturedChat.ts"
import { afterPage } from "../../src/domain/archive/ChatProgress.ts"
import type { ChatReader } from "../../src/ports/messenger/MessengerArchive.ts"
import { drawnOf } from "../support/capture/drawnNumbers.ts"
import { claimedRun, livingProcess, stage } from "../support/capture/livingProcess.ts"
import { rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"
import { Platform } from "../support/capture/modelPlatform.ts"
import { withOwnMetrics } from "../support/metrics.ts"

const drift = Effect.map(
  Metric.snapshot,
  (all) => all.filter(({ id }) => id === "console_archive_drift_total").map(({ state }) => state)
)

describe("a chat that is compared at the end of a run", () => {
  it.effect("lacks nothing that counts as archived; where it does, that is counted, and mended", () =>
    Effect.gen(function*() {
      const platform = new Platform(drawnOf(1), 0)
      const there = platform.chats.get(101n)!
      for (let sent = 0; sent < 3; sent++) platform.send(there, null)
      const stored = new Stored()
      stored.setRules([rule(null, "archive", true)])
      const sighting = platform.sighting(there, true)
      const chat = afterSighting(null, sighting, stored.judge(sighting), new Date(0), null)
      const page = { below: null, ids: [1n, 2n, 3n], oldestAt: new Date(0), lastKnown: null }
      stored.keepChat({ ...chat, progress: afterPage(chat.progress, page) })
      const process = livingProcess(stored)
      const all: ChatReader = {
        ...platform.reader,
        history: () =>
          Effect.sync(() => {
            const messages = platform.visible(there).toReversed().map((one) => platform.seen(there, one))
            return { messages, total: messages.length }
          })
      }
      const compare = Effect.suspend(() =>
        Effect.provideContext(
          compareOne(claimedRun, { ...unpaced, feed: platform.feed, reader: all }, [...stored.chats.values()]),
          process
        )
      )
      yield* compare
      expect([...stored.ofChat(101n).keys()].toSorted()).toEqual([1n, 2n, 3n])
      const counted = yield* drift
      expect(counted).toMatchObject([{ count: 3 }])
      expect(stored.drift).toBe(3)
      yield* compare
      expect(stored.drift).toBe(0)
      expect(yield* drift).toEqual(counted)
    }).pipe(withOwnMetrics))

  it.effect("has edits and deletions of which no difference tells counted; one that a difference tells of is no drift", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const { feed, reader } = platform
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
      const there = platform.chats.get(101n)!
      const all: ChatReader = {
        ...reader,
        history: () =>
          Effect.sync(() => {
            const messages = platform.visible(there).toReversed().map((one) => platform.seen(there, one))
            return { messages, total: messages.length }
          })
      }
      const compare = Effect.suspend(() =>
        Effect.provideContext(
          compareOne(claimedRun, { ...unpaced, feed, reader: all }, [stored.chats.get(101n)!]),
          process
        )
      )
      const newest = (id: bigint) => stored.ofChat(101n).get(id)?.revisions.at(-1)?.mark
      const [first, second, third] = platform.visible(there)
      platform.now = 20_000
      platform.edit(there)
      platform.remove(there, false)
      yield* compare
      expect(stored.drift).toBe(0)
      there.messages.set(first!.id, { ...first!, text: "edited", editedAt: 30 })
      there.messages.delete(second!.id)
      yield* compare
      expect(stored.drift).toBe(2)
      expect([newest(first!.id), stored.ofChat(101n).get(second!.id)?.deleted]).toEqual(["edited", true])
      expect(newest(third!.id)).toBe(third!.text)
      yield* compare
      expect(stored.drift).toBe(0)
    }).pipe(withOwnMetrics))
})
