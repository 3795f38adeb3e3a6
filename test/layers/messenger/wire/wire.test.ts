import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { messengerContract } from "../simulated/contract.ts"
import type { Capability, MessengerHarness } from "../simulated/harness.ts"
import { loginsContract } from "../simulated/logins.ts"
import { securingContract } from "../simulated/securing.ts"
import { sessionsContract } from "../simulated/sessions.ts"

/** What the wire is capable of, or why it is not. */
const capable: Readonly<Record<Capability, true | string>> = {
  milliseconds: "the platform's times are whole seconds",
  endings: "a session that signed out is refused like one that was revoked",
  attempts: "a code or password too many is refused like one that has run out",
  "told at once": "pushes come in their own time, and nobody is told that the session has ended before it asks",
  "unreadable security": "its parts are asked for one by one: what a refused one means stands in answers.test.ts",
  answers: true,
  "lost events": true,
  "any text": true
}

const harness: MessengerHarness<DataCentre.Loopback, unknown> = {
  layer: DataCentre.layer,
  // The platform's times are whole seconds, and so is the world's time where a test begins.
  world: Effect.gen(function*() {
    yield* TestClock.adjust(1000 - (yield* Clock.currentTimeMillis) % 1000)
    return (yield* DataCentre.Loopback).world
  }),
  capabilities: new Set(
    (Object.keys(capable) as Array<Capability>).filter((capability) => capable[capability] === true)
  ),
  pass: (duration) => TestClock.adjust(duration)
}

messengerContract("the messenger over the wire", harness)
sessionsContract("the messenger over the wire", harness)
loginsContract("the messenger over the wire", harness)
securingContract("the messenger over the wire", harness)
