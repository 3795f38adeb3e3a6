import { expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { traces } from "../../../support/dataCentre/traces.ts"
import { chatsContract } from "../simulated/chats.ts"
import { arrangedChats } from "../simulated/chatsHarness.ts"
import { feedsContract } from "../simulated/feeds.ts"

const requests = new Set<string>()

const harness = {
  layer: DataCentre.layer,
  // The platform's times are whole seconds, and so is the world's time where a test begins.
  world: Effect.gen(function*() {
    yield* TestClock.adjust(1000 - (yield* Clock.currentTimeMillis) % 1000)
    const { centre, world } = yield* DataCentre.Loopback
    const note = (request: string) => {
      requests.add(request)
      return false
    }
    if (centre.faults.length === 0) {
      centre.faults.push({ which: (_, { _: request }) => note(request), does: "stay silent", times: Infinity })
    }
    return world
  }),
  pass: TestClock.adjust
}

chatsContract("the messenger over the wire", harness)
feedsContract("the messenger over the wire", harness)

layer(DataCentre.layer)((it) => {
  it.effect("no request over the wire marks anything as read, or shows a presence", () =>
    Effect.gen(function*() {
      yield* arrangedChats(harness.world)()
      expect([...requests]).toContain("updates.getState")
      for (const trace of traces) expect([...requests]).not.toContain(trace)
    }))
})
