import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { established, start } from "../support/protection/watched.ts"
import { advance, jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

/** An account that has been watched for longer than the messenger's 24 hours. */
const arrange = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  yield* TestClock.setTime(start)
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {}, { facts: established })
  const read = Effect.map(World.get(`/v1/accounts/${account}`, admins.owner.key), ({ body }) => body)
  const events = Effect.map(
    World.journal(id),
    (all) => all.map(({ action, actor_type, outcome }) => `${action} ${outcome} ${actor_type}`)
  )
  return { account, admins, events, id, platform, read, userId }
})

describe("12 the watch over accounts", () => {
  forEachDatabase((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("S2.4-09, S3.2-02: a stranger is detected within a poll, and signed out at the deadline and no sooner", () =>
        Effect.gen(function*() {
          const { events, platform, read, userId } = yield* arrange
          yield* advance("2 minutes")
          const before = yield* read
          assert.strictEqual(before.status, "protected")
          assert.isNotNull(before.monitoring.last_polled_at)
          yield* platform.logIn(userId, { device_model: "Pixel 9", app_name: "Messenger" })
          yield* advance("72 seconds")
          const seen = yield* read
          assert.strictEqual(seen.status, "new_sign_in")
          assert.include(yield* events, "session.detected done external")
          const { review_deadline } = seen.sessions.find(({ current }: { current: boolean }) => !current)
          const now = yield* Clock.currentTimeMillis
          assert.strictEqual(yield* jump(Date.parse(review_deadline) - now - 1), 0)
          assert.lengthOf((yield* read).sessions, 2)
          assert.strictEqual(yield* jump(1), 1)
          const after = yield* read
          assert.strictEqual(after.status, "protected")
          assert.deepStrictEqual(
            after.terminations.map(({ actor, reason }: { actor: string; reason: string }) => [actor, reason]),
            [["service", "autokill"]]
          )
        }))
    })
  })
})
