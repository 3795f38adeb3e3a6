import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import type { ChatReader } from "../../src/ports/messenger/MessengerArchive.ts"
import { PlatformRefused } from "../../src/ports/messenger/MessengerSession.ts"
import { claimedRun, stage } from "../support/capture/livingProcess.ts"
import { unpaced } from "../support/capture/memoryCapture.ts"

const refusal = new PlatformRefused({ reason: "HISTORY_GET_FAILED" })

describe("a chat whose history the messenger fails to answer", () => {
  const sick = "102"

  /** A run that ends within the time, over a messenger that answers so often before the chat is well. */
  const play = Effect.fnUntraced(function*(failures: number) {
    const { platform, process, stored } = stage()
    const { feed, reader } = platform
    let asked = 0
    const failing: ChatReader = {
      ...reader,
      history: (ref, below, limit) =>
        Effect.suspend((): ReturnType<ChatReader["history"]> =>
          ref === sick && asked++ < failures ? Effect.fail(refusal) : reader.history(ref, below, limit)
        )
    }
    const run = Effect.gen(function*() {
      const whole = Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader: failing }), process)
      yield* Effect.all([whole, TestClock.adjust("1 minute")], { concurrency: "unbounded" })
    })
    yield* run
    return { platform, run, stored, asked: () => asked }
  })

  it.effect("is asked three times, and not again for six hours, and the run reads all others", () =>
    Effect.gen(function*() {
      const { asked, platform, run, stored } = yield* play(3)
      expect(asked()).toBe(3)
      for (const chat of platform.chats.values()) {
        const there = String(chat.chatId) === sick ? 0 : platform.visible(chat).length
        expect([chat.chatId, stored.ofChat(chat.chatId).size]).toEqual([chat.chatId, there])
      }
      expect(stored.chats.get(102n)).toMatchObject({ leftAt: null, refusedUntil: expect.any(Date) })
      yield* run
      expect(asked()).toBe(3)
      yield* TestClock.adjust("6 hours")
      yield* run
      expect(stored.ofChat(102n).size).toBe(platform.visible(platform.chats.get(102n)!).length)
    }))

  it.effect("is read where it answers the second time", () =>
    Effect.gen(function*() {
      const { platform, stored } = yield* play(1)
      expect(stored.ofChat(102n).size).toBe(platform.visible(platform.chats.get(102n)!).length)
    }))
})
