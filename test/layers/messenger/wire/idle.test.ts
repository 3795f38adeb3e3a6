import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { MessengerArchive } from "../../../../src/ports/messenger/MessengerArchive.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { Refusal } from "../../../support/dataCentre/Faults.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"

layer(DataCentre.layer)("a connection for reading that nobody uses", (it) => {
  it.effect("is closed after a minute, and a refusal that the account's own connection has meanwhile stays one", () =>
    Effect.gen(function*() {
      const { centre, world } = yield* DataCentre.Loopback
      const userId = yield* world.createAccount({ phone: "4915551390001", first_name: "Ada" })
      const ref = yield* world.connect(userId, { created_at: new Date(Date.now() - 2 * 86_400_000) })
      const session = yield* (yield* MessengerSession).open(ref)
      yield* world.connect(userId)
      const other = (yield* session.authorizations).find(({ current }) => !current)
      if (other === undefined) return assert.fail("There is no other session")
      const reader = yield* (yield* MessengerArchive).read(ref)
      yield* reader.chats(null)
      const [key] = [...centre.keys.values()].filter(({ of }) => of["ref"] === ref)
      if (key === undefined) return assert.fail("There is no key")
      assert.strictEqual(centre.connections(key), 2)

      const asked = yield* Deferred.make<void>()
      const answers = Promise.withResolvers<void>()
      centre.faults.push({
        request: "account.resetAuthorization",
        which: () => Deferred.doneUnsafe(asked, Effect.void) || true,
        does: new Refusal(400, "HASH_INVALID"),
        after: answers.promise,
        times: 1
      })
      const signingOut = yield* Effect.forkScoped(Effect.flip(session.signOut(other.id)))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("61 seconds")
      yield* TestClock.withLive(Effect.repeat(Effect.sync(() => centre.connections(key)), {
        until: (connections) => connections === 1,
        schedule: Schedule.spaced("20 millis")
      }))
      answers.resolve()
      assert.strictEqual((yield* Fiber.join(signingOut))._tag, "UnknownAuthorization")
      assert.lengthOf(yield* session.authorizations, 2)
    }))
})
