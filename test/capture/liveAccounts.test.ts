import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { makeLiveAccounts } from "../../src/capture/LiveAccounts.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { afterSighting } from "../../src/domain/archive/CapturedChat.ts"
import type { ChatFeed } from "../../src/ports/messenger/MessengerArchive.ts"
import { archivedOnce, archiveLive, withoutChannels } from "../support/capture/liveAccounts.ts"
import { claimedRun, countingSteps, stage } from "../support/capture/livingProcess.ts"
import { account, unpaced } from "../support/capture/memoryCapture.ts"

describe("the feeds of many accounts", () => {
  it.effect("begin sixteen at a time", () =>
    Effect.gen(function*() {
      const { platform: { feed, reader }, process } = stage()
      let [begun, together, most] = [0, 0, 0]
      const lives = yield* Effect.provideContext(
        makeLiveAccounts(() =>
          Effect.gen(function*() {
            begun += 1
            most = Math.max(most, ++together)
            yield* Effect.sleep("1 second")
            together -= 1
            return { feed, reading: Effect.succeed({ ...unpaced, reader }) }
          })
        ),
        process
      )
      yield* lives.goOn(
        Array.from({ length: 40 }, () => ({ ...account, accountId: AccountId.make(crypto.randomUUID()) }))
      )
      yield* TestClock.adjust("3500 millis")
      expect([begun, most]).toEqual([40, 16])
    }))
})

describe("an account of which nothing is pushed", () => {
  it.effect("asks for at most 4 differences and 12 glances an hour, and for a glance an hour after a quiet day", () =>
    Effect.gen(function*() {
      const counts = { transactions: 0, differences: 0, glances: 0, steps: 0 }
      const { platform: { feed, reader }, process } = stage(Effect.sync(() => void (counts.transactions += 1)))
      const counted = <A>(what: keyof typeof counts, call: A): A => {
        counts[what] += 1
        return call
      }
      const quiet: ChatFeed = {
        ...feed,
        difference: (since) => counted("differences", Effect.map(feed.difference(since), withoutChannels)),
        peers: (refs) => counted("glances", feed.peers(refs))
      }
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
      const counting = countingSteps(process, () => void (counts.steps += 1))
      const { passes } = yield* archiveLive({ feed: quiet, reader }, counting)
      const inHour = Effect.gen(function*() {
        Object.assign(counts, { transactions: 0, differences: 0, glances: 0, steps: 0 })
        yield* passes("1 minute", 60)
        return { ...counts }
      })
      // The first one catches up besides.
      yield* inHour
      const later = yield* inHour
      expect(later.differences).toBe(4)
      expect(later.glances).toBeGreaterThan(6)
      expect(later.glances).toBeLessThanOrEqual(12)
      // Each reads what is known, and nothing is locked or stored.
      expect(later.transactions).toBe(later.glances + later.differences)
      expect(later.steps).toBe(0)
      for (let hours = 0; hours < 24; hours++) yield* inHour
      expect(yield* inHour).toMatchObject({ differences: 4, glances: 1 })
    }))
})

describe("an account with many channels that push nothing", () => {
  const glancesOf = Effect.fnUntraced(function*(channels: number) {
    const { platform, process, stored } = stage()
    platform.chats.clear()
    for (let n = 0; n < channels; n++) {
      const chatId = -1_000_000_100_000n - BigInt(n)
      platform.add(chatId, "channel")
      const seen = platform.sighting(platform.chats.get(chatId)!, true)
      stored.keepChat(afterSighting(null, seen, stored.judge(seen), new Date(0), null))
    }
    const calls: Array<{ readonly at: number; readonly refs: ReadonlyArray<string> }> = []
    const feed: ChatFeed = {
      ...platform.feed,
      difference: (since) => Effect.map(platform.feed.difference(since), withoutChannels),
      peers: (refs) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          calls.push({ at, refs })
          return platform.feed.peers(refs)
        })
    }
    const { passes } = yield* archiveLive({ feed, reader: platform.reader }, process)
    yield* passes("4 seconds", 300)
    return calls
  })

  it.effect("has each of them looked at every five minutes, a hundred by a call", () =>
    Effect.gen(function*() {
      for (const channels of [1, 100, 101, 250, 999]) {
        const calls = yield* glancesOf(channels)
        const times = new Map<string, ReadonlyArray<number>>()
        for (const { at, refs } of calls) {
          expect(refs.length).toBeLessThanOrEqual(100)
          for (const ref of refs) times.set(ref, [...times.get(ref) ?? [], at])
        }
        expect(times.size).toBe(channels)
        for (const looks of times.values()) {
          const pauses = looks.map((at, n) => at - (looks[n - 1] ?? looks[0] ?? 0))
          expect(looks.length).toBeGreaterThan(1)
          expect(Math.max(...pauses)).toBeLessThanOrEqual(310_000)
        }
        expect(calls.length).toBeLessThanOrEqual(4 * Math.ceil(channels / 100) + 1)
      }
    }))
})

describe("a feed whose session has ended", () => {
  it.effect("has its last pushes archived, and begins anew after half a minute, and not before", () =>
    Effect.gen(function*() {
      const { listeners, passes, platform, stored } = yield* archivedOnce
      yield* passes("1 second")
      const chat = platform.chats.get(101n)!
      for (const push of platform.sendUntilPushed(chat)) listeners[0]?.pushed(push)
      listeners[0]?.ended()
      yield* TestClock.adjust("1 second")
      expect(stored.ofChat(101n).has(platform.visible(chat).at(-1)!.id)).toBe(true)
      yield* passes("1 second", 25)
      expect(listeners).toHaveLength(1)
      yield* passes("1 second", 10)
      expect(listeners).toHaveLength(2)
    }))
})

describe("what is pushed after minutes of silence", () => {
  it.effect("is archived at once", () =>
    Effect.gen(function*() {
      const { listeners, passes, platform, stored } = yield* archivedOnce
      yield* passes("1 minute", 5)
      const chat = platform.chats.get(101n)!
      for (const push of platform.sendUntilPushed(chat)) listeners[0]?.pushed(push)
      yield* TestClock.adjust("1 second")
      expect(stored.ofChat(101n).size).toBe(platform.visible(chat).length)
    }))
})
