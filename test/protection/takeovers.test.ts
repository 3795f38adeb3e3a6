import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as Worker from "../../src/layers/Worker.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, fresh, makeWatched } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

/** An account that was connected just now, where a stranger has changed the 2FA password: the takeover waits. */
const takenOver = Effect.gen(function*() {
  const organization = yield* arrange()
  const watched = yield* makeWatched(organization, fresh)
  yield* jump("1 minute")
  yield* watched.stranger
  yield* jump("75 seconds")
  yield* organization.platform.changeSecurity(watched.userId, { two_fa_password: Redacted.make("the thief's") })
  yield* jump("75 seconds")
  assert.include(yield* watched.done, "takeover.detected")
  return { ...organization, ...watched }
})

/** The holder's phone and both strangers were signed out because of the takeover. */
const assertAllSignedOut = Effect.fnUntraced(function*(read: Effect.Effect<any, never, any>) {
  const { sessions: left, status, terminations } = yield* read
  assert.strictEqual(status, "hijack_blocked")
  assert.deepStrictEqual(left.map(({ current }: { current: boolean }) => current), [true])
  const reasons = terminations.map(({ reason }: { reason: string }) => reason)
  assert.deepStrictEqual(reasons, ["hijacked", "hijacked", "hijacked"])
})

describe("12.7 a takeover", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("a stranger who signs in while the messenger's 24 hours last is signed out with the others", () =>
      Effect.gen(function*() {
        const { read, stranger } = yield* takenOver
        yield* jump("20 hours")
        yield* stranger
        yield* jump("75 seconds")
        const { sessions } = yield* read
        assert.lengthOf(sessions.filter((one: any) => one.sign_out_queued), 3)
        yield* jump("4 hours")
        yield* assertAllSignedOut(read)
      }))

    it.effect("a stranger whom the look first sees that stops it is signed out with the others", () =>
      Effect.gen(function*() {
        const { read, stranger } = yield* takenOver
        yield* jump("23 hours")
        yield* stranger
        yield* jump("1 hour")
        yield* assertAllSignedOut(read)
      }))

    it.effect("T6: a service session that is revoked within a day of a stranger's is one, though that one has ended", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const other = yield* makeWatched(organization)
        yield* jump("1 minute")
        for (const { stranger } of [organization, other]) yield* stranger
        yield* jump("75 seconds")
        // The one is signed out by an admin, the other at its deadline.
        const { body } = yield* World.get(`/v1/accounts/${organization.account}`, organization.admins.owner.key)
        const { id } = body.sessions.find(({ device_model }: any) => device_model === "Pixel 9")
        const path = `/v1/accounts/${organization.account}/sessions/${id}/sign-out`
        const { status } = yield* World.post(path, organization.admins.owner.key)
        assert.strictEqual(status, 200)
        assert.strictEqual(yield* jump("12 hours"), 1)
        yield* jump("11 hours")
        yield* other.revoke(other.sessionRef)
        yield* jump("75 seconds")
        assert.include(yield* other.done, "takeover.detected")
        assert.notInclude(yield* organization.done, "takeover.detected")
        yield* organization.revoke(organization.sessionRef)
        yield* jump("75 seconds")
        assert.include(yield* organization.done, "takeover.detected")
      }))
  })
})
