import { describe, expect, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { keepClaim } from "../../src/capture/CaptureSteps.ts"
import { DueBoxes } from "../../src/capture/DueBoxes.ts"
import { glance } from "../../src/capture/Glances.ts"
import { catchUpSome, takePushes } from "../../src/capture/LiveCapture.ts"
import { afterSighting } from "../../src/domain/archive/CapturedChat.ts"
import { ArchiveRuns } from "../../src/ports/archive/ArchiveRuns.ts"
import { type ChatFeed, type ChatReader, ChatRefused, type Push } from "../../src/ports/messenger/MessengerArchive.ts"
import { PlatformBusy, PlatformUnavailable } from "../../src/ports/messenger/MessengerSession.ts"
import { claimedRun, stage } from "../support/capture/livingProcess.ts"
import { account, rule, unpaced } from "../support/capture/memoryCapture.ts"

const group = -1_000_000_000_301n

describe("the calls of a run that the messenger limits", () => {
  it.effect("wait for their turn once each, and no turn is lost", () =>
    Effect.gen(function*() {
      const { platform: { feed, reader }, process } = stage()
      let [turns, calls] = [0, 0]
      const counting = <A>(call: A): A => {
        calls += 1
        return call
      }
      const counted: ChatReader = {
        ...reader,
        chats: (cursor) => counting(reader.chats(cursor)),
        history: (ref, below, limit) => counting(reader.history(ref, below, limit)),
        members: (ref, cursor) => counting(reader.members(ref, cursor))
      }
      const pacer = { take: Effect.sync(() => void (turns += 1)) }
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, pacer, reader: counted }), process)
      expect(calls).toBeGreaterThan(20)
      expect(turns).toBe(calls)
    }))
})

describe("a wait that the messenger demands", () => {
  const play = Effect.fnUntraced(function*(seconds: number, times: number) {
    const { platform: { feed, reader }, process } = stage()
    let [left, dialogs] = [times, 0]
    const demanding: ChatReader = {
      ...reader,
      chats: (cursor) => {
        if (cursor === null) dialogs += 1
        return reader.chats(cursor)
      },
      history: (ref, below, limit) =>
        Effect.suspend((): ReturnType<ChatReader["history"]> =>
          left-- > 0 ? Effect.fail(new PlatformBusy({ retryAfterSeconds: seconds })) : reader.history(ref, below, limit)
        )
    }
    const running = yield* Effect.forkChild(
      Effect.provideContext(Effect.exit(runCapture(claimedRun, { ...unpaced, feed, reader: demanding })), process)
    )
    yield* TestClock.adjust("10 minutes")
    return { dialogs, exit: yield* Fiber.join(running) }
  })

  it.effect("is slept through by the run where it is short, and ends it where it is long or comes again and again", () =>
    Effect.gen(function*() {
      const short = yield* play(30, 3)
      expect([short.exit._tag, short.dialogs]).toEqual(["Success", 1])
      for (const [seconds, times] of [[61, 1], [30, 99]] as const) {
        const { exit } = yield* play(seconds, times)
        expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({ _tag: "PlatformBusy" })
      }
    }))
})

describe("what is pushed while a run sleeps through a wait", () => {
  it.effect("is archived at once", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const { feed, reader } = platform
      let isAsked = false
      const demanding: ChatReader = {
        ...reader,
        history: (ref, below, limit) =>
          Effect.suspend((): ReturnType<ChatReader["history"]> => {
            if (isAsked) return reader.history(ref, below, limit)
            isAsked = true
            return Effect.fail(new PlatformBusy({ retryAfterSeconds: 30 }))
          })
      }
      yield* Effect.forkScoped(
        Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader: demanding }), process)
      )
      yield* TestClock.adjust("1 second")
      expect(isAsked).toBe(true)
      const chat = platform.chats.get(101n)!
      const pushes = platform.sendUntilPushed(chat)
      const newest = platform.visible(chat).at(-1)!.id
      yield* Effect.forkScoped(Effect.provideContext(takePushes(account, pushes), process))
      yield* TestClock.adjust("1 second")
      expect(stored.ofChat(101n).has(newest)).toBe(true)
    }))
})

describe("a push that its box has passed already", () => {
  it.effect("is archived, and its message is compared again: the difference may have left it out as it is deleted", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const there = platform.chats.get(101n)!
      const sighting = platform.sighting(there, true)
      stored.keepChat(afterSighting(null, sighting, stored.judge(sighting), new Date(0), null))
      stored.keepState({ position: 900, date: 0, qts: 0 })
      const message = platform.seen(there, platform.visible(there)[0]!)
      const { id } = message.record
      yield* Effect.provideContext(
        takePushes(account, [
          { _tag: "Pushed", box: "common", position: 10, count: 1, chats: [], change: { _tag: "New", message } }
        ]),
        process
      )
      expect(stored.ofChat(101n).has(id)).toBe(true)
      expect(stored.chats.get(101n)?.unchecked).toEqual({ below: id + 1n, to: id })
    }))
})

describe("a page of a chat", () => {
  it.effect("is not stored where the rules leave the chat out since it was asked for", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const reader: ChatReader = {
        ...platform.reader,
        history: (ref, below, limit) =>
          Effect.tap(
            platform.reader.history(ref, below, limit),
            () => Effect.sync(() => stored.setRules([rule(null, "skip", true)]))
          )
      }
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed: platform.feed, reader }), process)
      expect([...stored.messages.values()].flatMap((messages) => [...messages.keys()])).toEqual([])
    }))

  it.effect("is stored before a deletion that is pushed while it is asked for, so that the deletion finds its message", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const { id } = platform.visible(platform.chats.get(101n)!).at(-1)!
      const deleted: Push = {
        _tag: "Pushed",
        box: "common",
        position: 1,
        count: 1,
        chats: [],
        change: { _tag: "Deleted", chatId: null, ids: [id] }
      }
      const taken = Effect.provideContext(takePushes(account, [deleted]), process)
      const taking: Array<Fiber.Fiber<unknown, unknown>> = []
      const reader: ChatReader = {
        ...platform.reader,
        history: (ref, below, limit) =>
          Effect.tap(platform.reader.history(ref, below, limit), ({ messages: [newest] }) =>
            Effect.gen(function*() {
              if (taking.length > 0 || newest?.chatId !== 101n || newest.record.id !== id) return
              taking.push(yield* Effect.forkDetach(taken))
              yield* Effect.repeat(Effect.yieldNow, { times: 50 })
            }))
      }
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed: platform.feed, reader }), process)
      yield* Fiber.joinAll(taking)
      expect(taking).toHaveLength(1)
      expect(stored.ofChat(101n).get(id)?.deleted).toBe(true)
    }))

  it.effect("below which nothing was is asked for again after a week, as it may be shown by then", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const there = platform.chats.get(group)!
      there.visibleFrom = there.nextId
      platform.send(there, null)
      const { feed, reader } = platform
      const run = runCapture(claimedRun, { ...unpaced, feed, reader })
      yield* Effect.provideContext(run, process)
      expect(stored.ofChat(group).size).toBe(1)
      there.visibleFrom = 1n
      yield* TestClock.adjust("8 days")
      yield* Effect.provideContext(run, process)
      expect(stored.ofChat(group).size).toBe(13)
    }))
})

describe("a channel whose position was lost", () => {
  it.effect("has another one before a page of it is read, so that no change between the two is missed", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stage()
      const there = platform.chats.get(group)!
      const sighting = { ...platform.sighting(there, true), position: null }
      stored.keepChat(afterSighting(null, sighting, stored.judge(sighting), new Date(0), null))
      const calls: Array<string> = []
      const reader: ChatReader = {
        ...platform.reader,
        // The dialogs do not have it.
        chats: () => Effect.succeed({ chats: [], next: null, total: null }),
        history: (ref, below, limit) => {
          calls.push("page")
          return platform.reader.history(ref, below, limit)
        }
      }
      const feed: ChatFeed = {
        ...platform.feed,
        peers: (refs) => {
          calls.push("position")
          return platform.feed.peers(refs)
        }
      }
      yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
      expect(calls.slice(0, 2)).toEqual(["position", "page"])
      expect(calls.filter((call) => call === "position")).toHaveLength(1)
      expect(stored.chats.get(group)?.position).toBe(there.box?.position)
    }))
})

/** A channel that is known up to a position, and has moved since. */
const stageMoved = () => {
  const staged = stage()
  const { platform, stored } = staged
  const there = platform.chats.get(group)!
  const sighting = platform.sighting(there, true)
  stored.keepChat(afterSighting(null, sighting, stored.judge(sighting), new Date(0), null))
  stored.keepState({ position: 1, date: 0, qts: 0 })
  platform.send(there, null)
  return staged
}

const common = new Set(["common" as const])

describe("a channel that the messenger refuses to read", () => {
  it.effect("is asked again after six hours, and not before", () =>
    Effect.gen(function*() {
      const { platform, process, stored } = stageMoved()
      let asked = 0
      const feed: ChatFeed = {
        ...platform.feed,
        channelDifference: () =>
          Effect.suspend(() => {
            asked += 1
            return Effect.fail(new ChatRefused({ reason: "private" }))
          })
      }
      const look = Effect.provideContext(
        Effect.flatMap(glance(account, feed, common), ({ behind }) => {
          const due = new DueBoxes()
          due.add(behind)
          return catchUpSome(account, feed, due)
        }),
        process
      )
      yield* look
      yield* look
      expect(asked).toBe(1)
      expect(stored.chats.get(group)?.leftAt).not.toBeNull()
      yield* TestClock.adjust("361 minutes")
      yield* look
      yield* look
      expect(asked).toBe(2)
    }))
})

describe("a glance that the messenger does not answer", () => {
  it.effect("leaves the channels whose turn it was to the next one", () =>
    Effect.gen(function*() {
      for (const failure of [new PlatformUnavailable(), new PlatformBusy({ retryAfterSeconds: 600 })]) {
        const { platform, process } = stageMoved()
        const round = { had: new Set([77n]), glances: 2 }
        const glanceOver = (feed: ChatFeed) => Effect.provideContext(glance(account, feed, common, round), process)
        const missed = yield* glanceOver({ ...platform.feed, peers: () => Effect.fail(failure) })
        expect(missed).toEqual({ behind: [], round })
        const found = yield* glanceOver(platform.feed)
        expect(found.behind).toEqual([group])
      }
    }))
})

describe("the claim of a run", () => {
  it.effect("is renewed while a call takes longer than it lasts, also where the database does not answer once", () =>
    Effect.gen(function*() {
      const { process } = stage()
      const until: Array<number> = []
      const runs = {
        renew: (_: unknown, at: Date) =>
          Effect.suspend(() => {
            until.push(at.getTime())
            return until.length === 2 ? Effect.fail("away") : Effect.succeed(true)
          })
      } as unknown as ArchiveRuns["Service"]
      yield* Effect.forkScoped(Effect.provideContext(keepClaim(claimedRun), Context.add(process, ArchiveRuns, runs)))
      yield* TestClock.adjust("2 minutes")
      expect(until).toEqual([150_000, 180_000, 210_000, 240_000])
    }))
})
