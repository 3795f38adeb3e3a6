import { describe, expect, it } from "@effect/vitest"
import { Exit } from "effect"
import { outcomeOf } from "../../src/capture/Capture.ts"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { PlatformBusy, PlatformRefused, PlatformUnavailable } from "../../src/ports/messenger/MessengerSession.ts"

describe("a run that ends", () => {
  it("waits where the messenger or the database is away, or asks to wait, and has failed where it is refused", () => {
    const outcomes = [
      new ServiceUnavailable({}),
      new PlatformUnavailable(),
      new PlatformBusy({ retryAfterSeconds: 700 }),
      new PlatformRefused({ reason: "X" })
    ].map((failure) => outcomeOf(Exit.fail(failure)))
    expect(outcomes).toEqual([
      { _tag: "Waiting", seconds: 60 },
      { _tag: "Waiting", seconds: 60 },
      { _tag: "Waiting", seconds: 700 },
      { _tag: "Failed", error: "messenger_refused" }
    ])
  })
})
