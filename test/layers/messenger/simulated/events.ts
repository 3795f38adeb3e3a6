/** What every implementation of MessengerSession keeps of events. */
import { assert, describe, type Vitest } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { MessengerEvent } from "../../../../src/domain/messenger/Messenger.ts"
import { eventsKept } from "../../../../src/layers/messenger/SessionConnections.ts"
import { type LiveSession, MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { arranged, type Capability, listed, type MessengerHarness } from "./harness.ts"

/** Takes that many events of those that have come and will come. */
export const take = (live: LiveSession, count: number) => Stream.runCollect(Stream.take(live.events, count))

/** What happened, with the id of the session that it was about. */
export const namesOf = (events: ReadonlyArray<MessengerEvent>) =>
  events.map((event) => "id" in event ? `${event._tag} ${event.id}` : event._tag)

export const eventContract = <R, E>(
  it: Vitest.MethodsNonLive<MessengerSession | R>,
  harness: MessengerHarness<R, E>
): void => {
  const arrange = arranged(harness.world)
  const able = (capability: Capability) => harness.capabilities.has(capability)

  describe("events", () => {
    it.effect("come in the order of what happened, to every session of the service", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange()
        const messenger = yield* MessengerSession
        const paired = yield* messenger.open(yield* world.connect(userId))
        const waiting = yield* world.beginLogIn(userId, {})
        yield* world.finishLogIn(userId, waiting)
        yield* world.changeProfile(userId, { about: "New" })
        yield* world.confirm(userId, waiting)
        const stranger = yield* world.logIn(userId, {})
        yield* world.logOut(userId, stranger)
        yield* world.sendCode(userId)
        const expected = [
          "CodeSent",
          `NewAuthorization ${waiting}`,
          "ProfileChanged",
          `AuthorizationResolved ${waiting}`,
          "CodeSent",
          `NewAuthorization ${stranger}`,
          `AuthorizationResolved ${stranger}`,
          "CodeSent"
        ]
        for (const session of [live, paired]) {
          assert.deepStrictEqual(namesOf(yield* take(session, expected.length)), expected)
        }
      }))

    it.effect("report to a session what the other one did, and not what it did itself", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange()
        const messenger = yield* MessengerSession
        const paired = yield* messenger.open(yield* world.connect(userId))
        const stranger = yield* world.logIn(userId, {})
        yield* take(live, 2)
        yield* take(paired, 2)
        yield* live.updateProfile({ about: "Ours" })
        yield* live.confirm(stranger)
        yield* world.sendCode(userId)
        assert.deepStrictEqual(namesOf(yield* take(live, 1)), ["CodeSent"])
        assert.deepStrictEqual(namesOf(yield* take(paired, 3)), [
          "ProfileChanged",
          `AuthorizationResolved ${stranger}`,
          "CodeSent"
        ])
      }))

    if (able("told at once")) {
      it.effect("are the account's own, and begin when the session is opened", () =>
        Effect.gen(function*() {
          const { live, sessionRef, userId, world } = yield* arrange()
          const other = yield* arrange()
          yield* other.world.sendCode(other.userId)
          yield* world.changeProfile(userId, { about: "Before" })
          const messenger = yield* MessengerSession
          const later = yield* messenger.open(sessionRef)
          yield* world.sendCode(userId)
          assert.deepStrictEqual(namesOf(yield* take(live, 2)), ["ProfileChanged", "CodeSent"])
          assert.deepStrictEqual(namesOf(yield* take(later, 1)), ["CodeSent"])
        }))
    }

    if (able("told at once")) {
      it.effect("keep the latest 256 that nobody read, after a gap where there were more", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const full = yield* arrange()
          for (let count = 0; count < eventsKept; count++) yield* full.world.sendCode(full.userId)
          assert.isFalse(namesOf(yield* take(full.live, eventsKept)).includes("Gap"))
          yield* world.changeProfile(userId, { about: "Dropped" })
          for (let count = 0; count < eventsKept; count++) yield* world.sendCode(userId)
          const events = namesOf(yield* take(live, eventsKept + 1))
          assert.deepStrictEqual(events, ["Gap", ...Array.from({ length: eventsKept }, () => "CodeSent")])
          yield* world.changeProfile(userId, { about: "After" })
          assert.deepStrictEqual(namesOf(yield* take(live, 1)), ["ProfileChanged"])
        }))
    }

    if (able("told at once")) {
      it.effect("reach who waits for them, and end with the session", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const reading = yield* Effect.forkChild(Stream.runCollect(live.events))
          yield* Effect.yieldNow
          yield* world.sendCode(userId)
          yield* world.revokeService(userId, "banned")
          assert.deepStrictEqual(yield* Fiber.join(reading), [{ _tag: "CodeSent" }, {
            _tag: "Lost",
            reason: "banned"
          }])
        }))
    }

    if (able("lost events")) {
      it.effect("may be lost, which the list does not show", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          yield* world.dropEvents(userId, 2)
          const stranger = yield* world.logIn(userId, {})
          yield* world.changeProfile(userId, { about: "Told" })
          assert.deepStrictEqual(namesOf(yield* take(live, 1)), ["ProfileChanged"])
          assert.isTrue((yield* listed(live)).has(stranger))
        }))
    }
  })
}
