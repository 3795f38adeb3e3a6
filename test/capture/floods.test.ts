import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeFloods } from "../../src/capture/Floods.ts"
import type { ChatFeed } from "../../src/ports/messenger/MessengerArchive.ts"
import { PlatformBusy } from "../../src/ports/messenger/MessengerSession.ts"
import { stage } from "../support/capture/livingProcess.ts"
import { account } from "../support/capture/memoryCapture.ts"

describe("a wait that the messenger demands of a method", () => {
  it.effect("holds for all calls of the method for the account until its end, and for no other account or method", () =>
    Effect.gen(function*() {
      const { platform: { feed, reader } } = stage()
      const other = { ...account, organizationId: "other" as typeof account.organizationId }
      let asked = 0
      const busy: ChatFeed = {
        ...feed,
        peers: (refs) =>
          Effect.suspend((): ReturnType<ChatFeed["peers"]> =>
            asked++ === 0 ? Effect.fail(new PlatformBusy({ retryAfterSeconds: 100 })) : feed.peers(refs)
          )
      }
      const floods = makeFloods()
      const once = floods.feed(account, busy)
      expect(yield* Effect.flip(once.peers([]))).toMatchObject({ retryAfterSeconds: 100 })
      yield* TestClock.adjust("30 seconds")
      expect(yield* Effect.flip(floods.feed(account, busy).peers([]))).toMatchObject({ retryAfterSeconds: 70 })
      expect(asked).toBe(1)
      yield* once.state
      yield* floods.reader(account, reader).chats(null)
      yield* floods.feed(other, busy).peers([])
      yield* TestClock.adjust("70 seconds")
      yield* once.peers([])
    }))
})
