import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Capability, messengerContract, type MessengerHarness } from "../layers/messenger/contract.ts"
import { loginsContract } from "../layers/messenger/logins.ts"
import { securingContract } from "../layers/messenger/securing.ts"
import { sessionsContract } from "../layers/messenger/sessions.ts"
import * as DataCentre from "../support/dataCentre/index.ts"

const harness: MessengerHarness<DataCentre.Loopback, unknown> = {
  layer: DataCentre.layer,
  // The platform's times are whole seconds, and so is the world's time where a test begins.
  world: Effect.gen(function*() {
    yield* TestClock.adjust(1000 - (yield* Clock.currentTimeMillis) % 1000)
    return (yield* DataCentre.Loopback).world
  }),
  capabilities: new Set<Capability>(["answers"]),
  pass: (duration) => TestClock.adjust(duration)
}

messengerContract("the messenger over the wire", harness)
sessionsContract("the messenger over the wire", harness)
loginsContract("the messenger over the wire", harness)
securingContract("the messenger over the wire", harness)
