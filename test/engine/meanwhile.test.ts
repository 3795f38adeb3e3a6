import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { MessengerSession } from "../../src/ports/MessengerSession.ts"
import { forEachDatabase } from "../support/database.ts"
import { established, start } from "../support/watched.ts"
import { jump } from "../support/watching.ts"
import * as World from "../support/world.ts"

/** What is done while a sign-out is on its way, by the session that it ends. */
class Meanwhile extends Context.Service<Meanwhile, { act: ((id: string) => Effect.Effect<void>) | null }>()(
  "test/engine/meanwhile/Meanwhile"
) {}

const disturbed = (world: ReturnType<typeof World.world>) =>
  Worker.layer().pipe(
    Layer.provide(Layer.effect(
      MessengerSession,
      Effect.gen(function*() {
        const messenger = yield* MessengerSession
        const meanwhile = yield* Meanwhile
        return {
          ...messenger,
          open: (ref) =>
            Effect.map(messenger.open(ref), (live) => ({
              ...live,
              signOut: (id) =>
                Effect.suspend(() => {
                  const { act } = meanwhile
                  meanwhile.act = null
                  return Effect.andThen(act === null ? Effect.void : act(id), live.signOut(id))
                })
            }))
        }
      })
    )),
    Layer.provideMerge(Layer.sync(Meanwhile, () => ({ act: null }))),
    Layer.provideMerge(world)
  )

/** Two strangers whose deadline is in a moment, and what an admin does once the first sign-out is on its way. */
const play = Effect.fnUntraced(function*(act: (account: string, other: string) => string) {
  const platform = yield* SimulatedPlatform
  const meanwhile = yield* Meanwhile
  yield* TestClock.setTime(start)
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {}, { facts: established })
  yield* jump("1 minute")
  const strangers = [
    yield* platform.logIn(userId, { device_model: "Pixel 9" }),
    yield* platform.logIn(userId, { device_model: "iPhone 17" })
  ]
  yield* jump("75 seconds")
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof World.post>>>()
  meanwhile.act = (ended) =>
    World.post(act(account, strangers.find((stranger) => stranger !== ended) ?? ""), admins.owner.key).pipe(
      Effect.provideContext(services),
      Effect.asVoid
    )
  const signedOut = yield* jump("12 hours")
  assert.isNull(meanwhile.act)
  const { body } = yield* World.get(`/v1/accounts/${account}`, admins.owner.key)
  const events = (yield* World.journal(id)).filter(({ action }) => action === "session.autokilled")
  return { body, events: events.map(({ outcome }) => outcome).toSorted(), signedOut }
})

describe("12.6 what an admin decides while sessions are being signed out", () => {
  forEachDatabase((_, database) => {
    layer(disturbed(World.world(database)))((it) => {
      it.effect("a session that is approved before its sign-out was sent stays", () =>
        Effect.gen(function*() {
          const { body, events, signedOut } = yield* play((account, other) =>
            `/v1/accounts/${account}/sessions/${other}/approve`
          )
          assert.strictEqual(signedOut, 1)
          assert.lengthOf(body.sessions.filter(({ approved }: { approved: boolean }) => approved), 1)
          assert.strictEqual(body.status, "protected")
          assert.deepStrictEqual(events, ["done", "failed", "pending", "pending"])
        }))

      it.effect("nothing more is sent once the account is paused", () =>
        Effect.gen(function*() {
          const { body, events, signedOut } = yield* play((account) => `/v1/accounts/${account}/pause`)
          assert.strictEqual(signedOut, 1)
          assert.lengthOf(body.sessions.filter(({ current }: { current: boolean }) => !current), 1)
          assert.strictEqual(body.status, "paused")
          assert.deepStrictEqual(events, ["done", "failed", "pending", "pending"])
        }))
    })
  })
})
