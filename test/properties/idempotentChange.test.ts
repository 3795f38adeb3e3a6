import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Worker from "../../src/layers/Worker.ts"
import { IdempotencyKeys } from "../../src/ports/IdempotencyKeys.ts"
import { pglite } from "../support/database.ts"
import { dying } from "../support/mortal.ts"
import { established, start } from "../support/watched.ts"
import { advance, forgetOthers, jump } from "../support/watching.ts"
import * as World from "../support/world.ts"

const action = "recovery_email.requested"

const staged = Effect.gen(function*() {
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { id: account } = yield* World.makeLiveAccount(id, {}, { facts: established })
  yield* advance("1 minute")
  const { key } = admins.owner
  yield* World.put(`/v1/accounts/${account}/two-fa`, key, {})
  return {
    ask: World.send("POST", `/v1/accounts/${account}/recovery-email`, {
      key,
      body: { email: "new.address@example.org" },
      headers: { "idempotency-key": "one" }
    }),
    outcomes: Effect.map(
      World.journal(id),
      (events) =>
        events.filter((event) => event.action === action && event.closes !== null).map((event) => event.outcome)
    )
  }
})

/** A process that dies does not release its keys. */
const unreleased = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    IdempotencyKeys,
    (keys) => Effect.provideService(effect, IdempotencyKeys, { ...keys, release: () => Effect.void })
  )

describe("1 Idempotency-Key", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("wherever a process dies, a change of the account whose outcome is written is not made again", () =>
      Effect.gen(function*() {
        const seen = new Set<string>()
        for (let calls = 0, lived = false; !lived; calls++) {
          const { ask, outcomes } = yield* staged
          lived = yield* dying(calls, unreleased(ask))
          const before = yield* outcomes
          yield* jump("75 seconds")
          yield* jump("75 seconds")
          const again = yield* ask
          const replayed = again.headers.get("idempotent-replayed") === "true"
          expect([calls, again.status, replayed]).toEqual([calls, 200, before.includes("done")])
          expect([calls, (yield* outcomes).filter((outcome) => outcome === "done")]).toEqual([calls, ["done"]])
          seen.add(`${before.join()} ${replayed}`)
        }
        expect([...seen].sort()).toEqual([" false", "done true"])
      }))
  })
})
