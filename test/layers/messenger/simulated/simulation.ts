/** What the simulated platform does besides what every implementation of MessengerSession keeps. */
import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, type Layer, Redacted, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { messengerContract } from "./contract.ts"
import { type Capability, holdsNothing, type MessengerHarness } from "./harness.ts"
import { loginsContract } from "./logins.ts"
import { securingContract } from "./securing.ts"
import { sessionsContract } from "./sessions.ts"

let people = 0

export const arrange = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  const messenger = yield* MessengerSession
  const userId = yield* platform.createAccount({ phone: `4915660${10_000 + ++people}`, first_name: "Jane" })
  const sessionRef = yield* platform.connect(userId)
  return { platform, userId, sessionRef, live: yield* messenger.open(sessionRef) }
})

/** A Clock on which sleeps of this length last until they are woken, and tell when they begin. */
const holdSleep = Effect.fnUntraced(function*(milliseconds: number) {
  const asleep = yield* Deferred.make<void>()
  const wake = yield* Deferred.make<void>()
  const clock = yield* Clock.Clock
  const holding: Clock.Clock = {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
    currentTimeMillis: clock.currentTimeMillis,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) =>
      Duration.toMillis(duration) === milliseconds
        ? Effect.andThen(Deferred.succeed(asleep, undefined), Deferred.await(wake))
        : clock.sleep(duration)
  }
  return {
    asleep: Deferred.await(asleep),
    wake: Deferred.succeed(wake, undefined),
    during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, Clock.Clock, holding)
  }
})

/** What a simulated platform keeps, wherever it keeps it. */
export const simulation = <E>(messenger: Layer.Layer<MessengerSession | SimulatedPlatform, E>): void => {
  const harness: MessengerHarness<SimulatedPlatform, E> = {
    layer: messenger,
    world: SimulatedPlatform,
    capabilities: new Set<Capability>([
      "milliseconds",
      "endings",
      "attempts",
      "told at once",
      "answers",
      "lost events",
      "unreadable security",
      "any text"
    ]),
    pass: (duration) => TestClock.adjust(duration)
  }
  messengerContract("the messenger", harness)
  sessionsContract("the messenger", harness)
  loginsContract("the messenger", harness)
  securingContract("the messenger", harness)

  layer(messenger)("the people", (it) => {
    it.effect("have ids that the messenger gives nobody, and that a program holds as a number", () =>
      Effect.gen(function*() {
        const id = Number((yield* arrange).userId)
        // The messenger's ids have 52 bits.
        assert.isAtLeast(id, 2 ** 52)
        assert.isTrue(Number.isSafeInteger(id))
      }))
  })

  layer(messenger)("scripts", (it) => {
    it.effect("answer in their order, each as often as it says", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        yield* platform.script({ userId, answer: { _tag: "Busy", seconds: 1 }, times: 2 })
        yield* platform.script({ userId, answer: { _tag: "Unavailable" } })
        const seen: Array<string> = []
        for (let count = 0; count < 5; count++) {
          seen.push(yield* Effect.match(live.profile, { onFailure: ({ _tag }) => _tag, onSuccess: () => "answered" }))
        }
        assert.deepStrictEqual(seen, ["PlatformBusy", "PlatformBusy", "PlatformUnavailable", "answered", "answered"])
      }))

    it.effect("answer only the account and the operation that they name", () =>
      Effect.gen(function*() {
        const one = yield* arrange
        const two = yield* arrange
        yield* one.platform.script({
          userId: one.userId,
          operation: "authorizations",
          answer: { _tag: "Unavailable" }
        })
        yield* one.live.profile
        yield* two.live.authorizations
        assert.strictEqual((yield* Effect.flip(one.live.authorizations))._tag, "PlatformUnavailable")
        yield* one.live.authorizations
      }))

    it.effect("without an account answer the next caller", () =>
      Effect.gen(function*() {
        const one = yield* arrange
        const two = yield* arrange
        yield* one.platform.script({ answer: { _tag: "Unavailable" }, times: 2 })
        assert.strictEqual((yield* Effect.flip(two.live.profile))._tag, "PlatformUnavailable")
        assert.strictEqual((yield* Effect.flip(one.live.profile))._tag, "PlatformUnavailable")
        yield* two.live.profile
      }))

    it.effect("answer exactly as many calls as they say when calls come at once", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        yield* platform.script({ userId, answer: { _tag: "Unavailable" }, times: 3 })
        const results = yield* Effect.all(Array.from({ length: 12 }, () => Effect.result(live.profile)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(results.filter(({ _tag }) => _tag === "Failure").length, 3)
      }))

    it.effect("are gone when they are cleared", () =>
      Effect.gen(function*() {
        const { live, platform } = yield* arrange
        yield* platform.script({ answer: { _tag: "Unavailable" }, times: 100 })
        yield* platform.clearScripts
        yield* live.profile
      }))

    it.effect("make a call slow on the Clock", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        const held = yield* holdSleep(7_777)
        yield* platform.script({ userId, operation: "update_profile", answer: { _tag: "Slow", milliseconds: 7_777 } })
        const patient = yield* Effect.forkChild(held.during(live.updateProfile({ about: "Late" })))
        yield* held.asleep
        assert.isNull((yield* live.profile).about)
        yield* held.wake
        assert.strictEqual((yield* Fiber.join(patient)).about, "Late")
        assert.strictEqual((yield* live.profile).about, "Late")
      }))

    it.effect("make a call slow, and a caller who gives up leaves nothing changed", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        const held = yield* holdSleep(7_777)
        yield* platform.script({ userId, operation: "update_profile", answer: { _tag: "Slow", milliseconds: 7_777 } })
        const hasty = yield* Effect.forkChild(held.during(live.updateProfile({ about: "Never" })))
        yield* held.asleep
        yield* Fiber.interrupt(hasty)
        yield* held.wake
        assert.isNull((yield* live.profile).about)
        assert.strictEqual((yield* live.updateProfile({ about: "Next" })).about, "Next")
      }))

    it.effect("make a call silent for ever, while other calls are answered", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        const held = yield* holdSleep(7_777)
        yield* platform.script({ userId, operation: "set_username", answer: { _tag: "Silent" } })
        const before = (yield* platform.calls).length
        const call = Effect.timeoutOption(live.setUsername("silent_name"), 7_777)
        const waiting = yield* Effect.forkChild(held.during(call))
        while ((yield* platform.calls).length === before) yield* Effect.yieldNow
        for (let count = 0; count < 20; count++) assert.isNull((yield* live.profile).username)
        assert.isUndefined(waiting.pollUnsafe())
        yield* held.wake
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "None")
        assert.isNull((yield* live.profile).username)
      }))
  })

  layer(messenger)("the log of calls", (it) => {
    it.effect("shows each call of the service with account and time, and nothing of the outside world", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        const before = (yield* platform.calls).length
        yield* TestClock.adjust("1 minute")
        yield* platform.changeProfile(userId, { about: "Outside" })
        yield* platform.logIn(userId, {})
        assert.strictEqual((yield* platform.calls).length, before)
        yield* live.profile
        yield* live.security({ twoFaPasswords: [Redacted.make("s3cret-held")], passkeyIds: [] })
        yield* platform.script({ userId, answer: { _tag: "Unavailable" } })
        yield* TestClock.adjust("1 minute")
        yield* Effect.flip(live.setUsername("abcdef"))
        const calls = (yield* platform.calls).slice(before)
        const now = yield* TestClock.testClockWith((clock) => clock.currentTimeMillis)
        assert.deepStrictEqual(calls, [
          { operation: "profile", user_id: userId, at: new Date(now - 60_000) },
          { operation: "security", user_id: userId, at: new Date(now - 60_000) },
          { operation: "set_username", user_id: userId, at: new Date(now) }
        ])
      }))

    it.effect("shows one opening of a session that is opened twice", () =>
      Effect.gen(function*() {
        const { platform, sessionRef } = yield* arrange
        const messenger = yield* MessengerSession
        const before = (yield* platform.calls).length
        yield* messenger.open(sessionRef)
        assert.strictEqual((yield* platform.calls).length, before)
      }))

    it.effect("shows a call with an unknown session", () =>
      Effect.gen(function*() {
        const { platform } = yield* arrange
        const messenger = yield* MessengerSession
        yield* Effect.flip(messenger.open(SessionRef.make("unknown")))
        assert.deepInclude((yield* platform.calls).at(-1), { operation: "open", user_id: null })
      }))
  })

  layer(messenger)("an account that stays as it is", (it) => {
    it.effect("signs nobody out and sees nobody active when it is frozen, and goes on as it was", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        const stranger = yield* platform.logIn(userId, {})
        yield* platform.setFrozen(userId, true)
        const before = yield* live.authorizations
        yield* TestClock.adjust("25 hours")
        assert.deepInclude(yield* Effect.flip(live.signOut(stranger)), { _tag: "SignOutLocked", until: null })
        assert.deepStrictEqual(yield* live.authorizations, before)
        yield* platform.setFrozen(userId, false)
        yield* live.signOut(stranger)
      }))

    it.effect("does not list its devices when it is unreachable, answers all else, and has a gap afterwards", () =>
      Effect.gen(function*() {
        const { live, platform, userId } = yield* arrange
        yield* platform.setUnreachable(userId, true)
        assert.strictEqual((yield* Effect.flip(live.authorizations))._tag, "PlatformUnavailable")
        assert.strictEqual((yield* live.profile).first_name, "Jane")
        yield* platform.setUnreachable(userId, false)
        assert.strictEqual((yield* live.authorizations).length, 1)
        assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(live.events, 1)), [{ _tag: "Gap" }])
      }))
  })

  layer(messenger)("the accounts that are connected", (it) => {
    it.effect("are those with a session of the service, with the sign-ins that nobody confirmed", () =>
      Effect.gen(function*() {
        const { platform, userId } = yield* arrange
        const [frozen, unreachable, revoked] = [yield* arrange, yield* arrange, yield* arrange]
        yield* platform.setFrozen(frozen.userId, true)
        yield* platform.setUnreachable(unreachable.userId, true)
        yield* platform.revokeService(revoked.userId)
        yield* platform.logIn(userId, {})
        yield* platform.confirm(userId, yield* platform.logIn(userId, {}))
        const made = [userId, frozen.userId, unreachable.userId, revoked.userId]
        const connected = (yield* platform.connected).filter((account) => made.includes(account.userId))
        assert.deepStrictEqual(connected.map(({ userId, unconfirmed }) => [userId, unconfirmed]), [[userId, 1]])
      }))
  })

  layer(messenger)("a live session", (it) => {
    it.effect("is not used after its scope closed", () =>
      Effect.gen(function*() {
        const { sessionRef } = yield* arrange
        const messenger = yield* MessengerSession
        const scope = yield* Scope.make()
        const live = yield* Scope.provide(messenger.open(sessionRef), scope)
        yield* live.profile
        yield* Scope.close(scope, Exit.void)
        const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
          live.profile,
          live.security(holdsNothing),
          live.updateProfile({}),
          live.setUsername(null),
          live.authorizations,
          live.logOut
        ]
        for (const call of calls) assert.isTrue(Exit.hasDies(yield* Effect.exit(call)))
      }))
  })
}

/** An account that nobody has opened yet. */
export const arrangeUnopened = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  const userId = yield* platform.createAccount({ phone: `4915660${10_000 + ++people}`, first_name: "Seed" })
  return { sessionRef: yield* platform.connect(userId) }
})
