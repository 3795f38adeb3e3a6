/** An account that is archived as it changes, over a store in memory. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { runCapture } from "../../../src/capture/CaptureRun.ts"
import { makeLiveAccounts } from "../../../src/capture/LiveAccounts.ts"
import type { Difference, PushListener } from "../../../src/ports/messenger/MessengerArchive.ts"
import { claimedRun, type livingProcess, stage } from "./livingProcess.ts"
import { account, unpaced } from "./memoryCapture.ts"
import type { Platform } from "./modelPlatform.ts"

export const withoutChannels = (found: Difference): Difference =>
  found._tag === "Since" ? { ...found, channels: [] } : found

/** Archives the account as it changes, over the feed: what hears its pushes, and what time does to it. */
export const archiveLive = Effect.fnUntraced(function*(
  { feed, reader }: Pick<Platform, "feed" | "reader">,
  process: ReturnType<typeof livingProcess>
) {
  const listeners: Array<PushListener> = []
  /** Those that hear pushes now. */
  const hearing = new Set<PushListener>()
  const lives = yield* Effect.provideContext(
    makeLiveAccounts((_, listener) =>
      Effect.gen(function*() {
        listeners.push(listener)
        hearing.add(listener)
        yield* Effect.addFinalizer(() => Effect.sync(() => void hearing.delete(listener)))
        return { feed, reading: Effect.succeed({ ...unpaced, reader }) }
      })
    ),
    process
  )
  const passes = Effect.fnUntraced(function*(pause: "1 minute" | "1 second" | "4 seconds" | "5 seconds", times = 1) {
    for (let left = times; left > 0; left--) {
      yield* lives.goOn([account])
      yield* TestClock.adjust(pause)
    }
  })
  return { hearing, listeners, lives, passes }
})

/** Archives the account as it changes once a run has read its chats. */
export const archivedOnce = Effect.gen(function*() {
  const { platform, process, stored } = stage()
  const { feed, reader } = platform
  yield* Effect.provideContext(runCapture(claimedRun, { ...unpaced, feed, reader }), process)
  return { platform, stored, ...(yield* archiveLive(platform, process)) }
})
