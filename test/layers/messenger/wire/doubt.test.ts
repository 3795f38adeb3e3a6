import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"

/** A session whose key the platform does not know for now. */
const doubted = Effect.fnUntraced(function*(phone: string) {
  const { centre, world } = yield* DataCentre.Loopback
  const userId = yield* world.createAccount({ phone, first_name: "Ada" })
  const ref = yield* world.connect(userId)
  const live = yield* (yield* MessengerSession).open(ref)
  yield* live.profile
  const key = [...centre.keys.values()].find(({ of }) => of["ref"] === ref)
  if (key === undefined) return assert.fail("The session has no key.")
  centre.forget(key)
  centre.cut(key)
  assert.strictEqual((yield* Effect.flip(live.profile))._tag, "PlatformUnavailable")
  assert.strictEqual((yield* Effect.flip(live.profile))._tag, "PlatformUnavailable")
  return { centre, key, live }
})

layer(DataCentre.layer)("a key that the platform does not know", (it) => {
  it.effect("is kept, and serves again when the platform knows it after a while, also in a session that stayed open", () =>
    Effect.gen(function*() {
      const { centre, key, live } = yield* doubted("4915551110001")
      centre.remember(key)
      yield* TestClock.adjust("31 seconds")
      assert.strictEqual((yield* live.profile).phone, "4915551110001")
      assert.strictEqual((yield* live.profile).first_name, "Ada")
    }))

  it.effect("means after half a minute that the session was revoked", () =>
    Effect.gen(function*() {
      const { live } = yield* doubted("4915551110002")
      yield* TestClock.adjust("31 seconds")
      const ended = yield* Effect.result(live.profile)
      assert.isTrue(Result.isFailure(ended))
      assert.deepInclude(yield* Effect.flip(live.profile), { _tag: "NoSession", reason: "revoked" })
    }))
})
