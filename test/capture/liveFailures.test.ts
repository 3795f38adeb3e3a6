import { describe, expect, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { afterSighting } from "../../src/domain/archive/CapturedChat.ts"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { Db } from "../../src/ports/Db.ts"
import type { ChatFeed } from "../../src/ports/messenger/MessengerArchive.ts"
import {
  type MessengerFailure,
  PlatformBusy,
  PlatformRefused,
  PlatformUnavailable
} from "../../src/ports/messenger/MessengerSession.ts"
import { archiveLive, withoutChannels } from "../support/capture/liveAccounts.ts"
import { claimedRun, stage } from "../support/capture/livingProcess.ts"
import { unpaced } from "../support/capture/memoryCapture.ts"
import type { Platform } from "../support/capture/modelPlatform.ts"
import { metric, withOwnMetrics } from "../support/metrics.ts"

const channel = -1_000_000_000_301n

/** Sends to the chat, and unsends what was pushed: from then on the push alone has it. */
const unsend = (platform: Platform, hearing: ReadonlySet<{ readonly pushed: (push: any) => void }>): bigint => {
  const chat = platform.chats.get(101n)!
  const pushes = platform.sendUntilPushed(chat)
  const { id } = platform.visible(chat).at(-1)!
  chat.messages.delete(id)
  for (const { pushed } of hearing) pushes.forEach(pushed)
  return id
}

/** An account that was archived by a run, and is archived live over another feed. */
const stageFeed = Effect.fnUntraced(function*(other: (feed: ChatFeed) => Partial<ChatFeed>) {
  const { platform, process, stored } = stage()
  const { feed, reader } = platform
  yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
  const quiet: ChatFeed = { ...feed, difference: (since) => Effect.map(feed.difference(since), withoutChannels) }
  return { platform, stored, ...(yield* archiveLive({ feed: { ...quiet, ...other(quiet) }, reader }, process)) }
})

const failing = <A, E>(failure: () => MessengerFailure | null, call: Effect.Effect<A, E>, count: () => void) =>
  Effect.suspend((): Effect.Effect<A, E | MessengerFailure> => {
    const found = failure()
    if (found !== null) count()
    return found === null ? call : Effect.fail(found)
  })

describe("a channel whose difference the messenger does not answer", () => {
  const cases: ReadonlyArray<readonly [MessengerFailure, number]> = [
    [new PlatformRefused({ reason: "HISTORY_GET_FAILED" }), 3],
    [new PlatformRefused({ reason: "PERSISTENT_TIMESTAMP_OUTDATED" }), 3],
    [new PlatformBusy({ retryAfterSeconds: 1200 }), 4],
    [new PlatformUnavailable(), 125]
  ]
  it.effect.each(cases)(
    "%s: is asked rarely, and the other chats are archived as they change",
    ([failure, most]) =>
      Effect.gen(function*() {
        let asked = 0
        const { hearing, listeners, passes, platform, stored } = yield* stageFeed((feed) => ({
          channelDifference: (ref, since) =>
            failing(
              () => ref === String(channel) ? failure : null,
              feed.channelDifference(ref, since),
              () => void (asked += 1)
            )
        }))
        yield* passes("5 seconds", 4)
        const unsent = unsend(platform, hearing)
        yield* passes("5 seconds", 720)
        expect(stored.ofChat(101n).has(unsent)).toBe(true)
        expect(listeners).toHaveLength(1)
        expect(asked).toBeGreaterThan(0)
        expect(asked).toBeLessThanOrEqual(most)
      })
  )
})

describe("a channel of which the messenger's own state is behind", () => {
  it.effect("is not asked for six hours, and is read by pages then", () =>
    Effect.gen(function*() {
      const { passes, stored } = yield* stageFeed((feed) => ({
        channelDifference: (ref, since) =>
          ref === String(channel)
            ? Effect.fail(new PlatformRefused({ reason: "PERSISTENT_TIMESTAMP_OUTDATED" }))
            : feed.channelDifference(ref, since)
      }))
      yield* passes("5 seconds", 4)
      const chat = stored.chats.get(channel)
      expect([chat?.position, chat?.progress.edge]).toEqual([null, null])
      expect(chat?.refusedUntil?.getTime()).toBeGreaterThan(6 * 3_600_000)
    }))
})

describe("the common box", () => {
  const play = Effect.fnUntraced(function*(failure: MessengerFailure, hours: number) {
    let asked = 0
    const staged = yield* stageFeed((feed) => ({
      difference: (since) => failing(() => failure, feed.difference(since), () => void (asked += 1))
    }))
    yield* staged.passes("5 seconds", hours * 720)
    const { unchecked } = staged.stored.chats.get(101n)!
    expect(unchecked).toBe(null)
    return { ...staged, asked }
  })

  it.effect("is asked for its difference once while the messenger demands a wait of an hour", () =>
    Effect.gen(function*() {
      const { asked, listeners } = yield* play(new PlatformBusy({ retryAfterSeconds: 3600 }), 0.9)
      expect([asked, listeners.length]).toEqual([1, 1])
    }))

  it.effect("is asked three times in six hours where the messenger's own state is behind, and that is no gap", () =>
    Effect.gen(function*() {
      const { asked } = yield* play(new PlatformRefused({ reason: "PERSISTENT_TIMESTAMP_OUTDATED" }), 5)
      expect(asked).toBe(3)
    }))
})

describe("a start with many channels", () => {
  it.effect("has a push archived after twenty answers at most", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const { feed, reader } = platform
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
      for (let n = 0; n < 300; n++) {
        const chatId = -1_000_000_100_000n - BigInt(n)
        const seen = platform.sighting(platform.add(chatId, "channel"), true)
        stored.keepChat(afterSighting(null, seen, stored.judge(seen), new Date(0), null))
      }
      let asked = 0
      const slow: ChatFeed = {
        ...feed,
        difference: (since) => Effect.map(feed.difference(since), withoutChannels),
        channelDifference: (ref, since) =>
          Effect.andThen(
            Effect.sleep("300 millis"),
            Effect.suspend(() => {
              asked += 1
              return feed.channelDifference(ref, since)
            })
          )
      }
      const { hearing, passes } = yield* archiveLive({ feed: slow, reader }, process)
      yield* passes("1 second")
      const unsent = unsend(platform, hearing)
      yield* passes("1 second", 8)
      expect(stored.ofChat(101n).has(unsent)).toBe(true)
      expect(asked).toBeLessThan(40)
      yield* passes("1 second", 120)
      expect(asked).toBeGreaterThanOrEqual(300)
    }))
})

describe("what is pushed while the database is away", () => {
  it.effect("is archived once it is back, and nothing of it is lost", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const { feed, reader } = platform
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
      let isAway = false
      const db = Context.get(process, Db)
      const reached = <A, E, R>(work: Effect.Effect<A, E, R>) =>
        Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> =>
          isAway ? Effect.fail(new ServiceUnavailable({})) : work
        )
      const failingDb = Db.of({
        ...db,
        transaction: (organization, work) => reached(db.transaction(organization, work)),
        read: (organization, work) => reached(db.read(organization, work))
      })
      const quiet: ChatFeed = { ...feed, difference: (since) => Effect.map(feed.difference(since), withoutChannels) }
      const { hearing, passes } = yield* archiveLive({ feed: quiet, reader }, Context.add(process, Db, failingDb))
      yield* passes("1 second", 3)
      isAway = true
      const ids = [unsend(platform, hearing)]
      yield* passes("1 second", 3)
      ids.push(unsend(platform, hearing))
      yield* passes("1 minute", 6)
      isAway = false
      ids.push(unsend(platform, hearing))
      yield* passes("1 second", 5)
      expect(ids.filter((id) => !stored.ofChat(101n).has(id))).toEqual([])
    }))
})

describe("pushes that nobody takes any more", () => {
  it.effect("are counted", () =>
    Effect.gen(function*() {
      const { hearing, lives, passes, platform } = yield* stageFeed(() => ({}))
      yield* passes("1 second", 3)
      unsend(platform, hearing)
      yield* lives.end(() => true)
      expect(yield* metric("console_archive_pushes_dropped_total")).toBeGreaterThan(0)
    }).pipe(withOwnMetrics))
})
