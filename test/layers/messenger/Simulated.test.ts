import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { SessionRef } from "../../../src/domain/Messenger.ts"
import * as Simulated from "../../../src/layers/messenger/Simulated.ts"
import { callsKept, SimulatedPlatform } from "../../../src/layers/messenger/SimulatedPlatform.ts"
import { MessengerSession } from "../../../src/ports/MessengerSession.ts"
import { asOwner, forEachDatabase } from "../../support/database.ts"
import { postgresLayer } from "../../support/databaseRoles.ts"
import { type Capability, holdsNothing, messengerContract, type MessengerHarness } from "./contract.ts"
import { loginsContract } from "./logins.ts"
import { securingContract } from "./securing.ts"
import { sessionsContract } from "./sessions.ts"

let people = 0

const arrange = Effect.gen(function*() {
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

const simulation = <E>(messenger: Layer.Layer<MessengerSession | SimulatedPlatform, E>): void => {
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

    it.effect("without an account answer whoever calls next", () =>
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
        assert.deepStrictEqual(connected, [{ userId, unconfirmed: 1 }])
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

const arrangeUnopened = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  const userId = yield* platform.createAccount({ phone: `4915660${10_000 + ++people}`, first_name: "Seed" })
  return { sessionRef: yield* platform.connect(userId) }
})

describe("the simulated platform in memory", () => simulation(Simulated.layerMemory))

describe("the simulated platform in the database", () => {
  forEachDatabase((_, database) => {
    simulation(Simulated.layerSql.pipe(Layer.provide(database)))

    layer(Simulated.layerSql.pipe(Layer.provideMerge(database)))("the tables", (it) => {
      it.effect("keep accounts, sessions, scripts and the log over a restart", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { platform, sessionRef, userId } = yield* arrange
          yield* platform.changeProfile(userId, { username: "kept_name", about: "Kept" })
          yield* platform.script({ userId, answer: { _tag: "Refused", reason: "RESTARTING" } })
          yield* platform.script({ userId, answer: { _tag: "Busy", seconds: 7 } })
          const calls = yield* platform.calls
          const restarted = Simulated.layerSql.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)), Layer.fresh)
          yield* Effect.gen(function*() {
            assert.deepStrictEqual(yield* (yield* SimulatedPlatform).calls, calls)
            const messenger = yield* MessengerSession
            const failures = yield* Effect.all([
              Effect.flip(Effect.scoped(messenger.open(sessionRef))),
              Effect.flip(Effect.scoped(messenger.open(sessionRef)))
            ])
            assert.deepInclude(failures[0], { _tag: "PlatformRefused", reason: "RESTARTING" })
            assert.deepInclude(failures[1], { _tag: "PlatformBusy", retryAfterSeconds: 7 })
            const live = yield* messenger.open(sessionRef)
            assert.deepInclude(yield* live.profile, { username: "kept_name", about: "Kept" })
          }).pipe(Effect.provide(restarted))
        }))

      it.effect("keep what ended, what is locked, and texts that a database cannot hold, over a restart", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { live, platform, sessionRef, userId } = yield* arrange
          const locked = yield* arrange
          const restarted = Simulated.layerSql.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)), Layer.fresh)
          yield* platform.logIn(locked.userId, { device_model: "\u0000\ud800\u0001Phone" })
          const before = yield* locked.live.authorizations
          yield* platform.revokeService(userId, "banned")
          yield* Effect.flip(live.profile)
          yield* Effect.gen(function*() {
            const messenger = yield* MessengerSession
            assert.deepInclude(yield* Effect.flip(messenger.open(sessionRef)), { reason: "banned" })
            const again = yield* messenger.open(locked.sessionRef)
            const all = yield* again.authorizations
            assert.deepStrictEqual(all, before)
            assert.strictEqual(all.find(({ current }) => !current)?.device_model, " Phone")
            const stranger = all.find(({ current }) => !current)
            if (stranger === undefined) return assert.fail("The stranger is not listed.")
            assert.strictEqual((yield* Effect.flip(again.signOut(stranger.id)))._tag, "SignOutLocked")
          }).pipe(Effect.provide(restarted))
        }))

      it.effect("let a key die that is used at two places at once, and not one that goes on at another", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const elsewhere = Simulated.layerSql.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)), Layer.fresh)
          const there = yield* Effect.provide(MessengerSession, elsewhere)
          const here = yield* MessengerSession
          const { sessionRef } = yield* arrangeUnopened
          for (const place of [here, there, here]) {
            yield* Effect.scoped(Effect.flatMap(place.open(sessionRef), (live) => live.profile))
          }
          const [one, two] = [yield* here.open(sessionRef), yield* there.open(sessionRef)]
          yield* two.profile
          const told = yield* Effect.forkChild(Stream.runCollect(one.events))
          for (const live of [one, two, one]) {
            assert.deepInclude(yield* Effect.flip(live.profile), { _tag: "NoSession", reason: "key_duplicated" })
          }
          assert.deepStrictEqual(yield* Fiber.join(told), [{ _tag: "Lost", reason: "key_duplicated" }])
          for (const place of [here, there]) {
            const gone = yield* Effect.flip(Effect.scoped(place.open(sessionRef)))
            assert.deepInclude(gone, { reason: "key_duplicated" })
          }
        }))

      it.effect("keep the latest 10,000 calls", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { live, platform } = yield* arrange
          yield* sql`delete from simulated_call`
          yield* sql`
            insert into simulated_call (number, operation, at)
            select number, ${"profile"}::text, ${new Date(0)}::timestamptz from generate_series(9000, 19999) number
          `
          yield* asOwner((sql) => sql`select setval('simulated_number', 19999)`)
          yield* live.profile
          const kept = yield* sql<{ first: number; last: number; count: number }>`
            select min(number) as first, max(number) as last, count(*)::int as count from simulated_call
          `
          assert.deepStrictEqual(kept, [{ first: 10_001, last: 20_000, count: 10_000 }])
          assert.strictEqual((yield* platform.calls).length, callsKept)
        }))

      it.effect("hold no password and no full email address", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { live, platform, userId } = yield* arrange
          const password = Redacted.make("s3cret-held")
          yield* platform.changeSecurity(userId, {
            two_fa_password: password,
            login_email: "jane.roe@example.com",
            recovery_email: "recover.me@example.com"
          })
          assert.isTrue((yield* live.security({ twoFaPasswords: [password], passkeyIds: [] })).two_fa_managed)
          const rows = JSON.stringify([
            yield* sql`select * from simulated_account`,
            yield* sql`select * from simulated_call`
          ])
          assert.include(rows, "j*****e@example.com")
          for (const secret of ["s3cret-held", "jane.roe", "recover.me"]) assert.notInclude(rows, secret)
        }))

      it.effect("are closed to the tenants' role", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const tables = yield* sql<{ name: string }>`
        select relname as name from pg_class where relname like 'simulated%' and relkind in ('r', 'S') order by relname
      `
          assert.strictEqual(tables.length, 9)
          for (const { name } of tables) {
            const refused = yield* Effect.flip(
              sql.withTransaction(Effect.andThen(sql`set local role console_app`, sql`select * from ${sql(name)}`))
            )
            assert.strictEqual(refused.reason._tag, "AuthorizationError", name)
          }
        }))

      it.effect("are not reached from inside a database transaction", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { live, platform, sessionRef } = yield* arrange
          const messenger = yield* MessengerSession
          const before = (yield* platform.calls).length
          for (const call of [Effect.asVoid(live.profile), Effect.asVoid(messenger.open(sessionRef))]) {
            assert.isTrue(Exit.hasDies(yield* Effect.exit(sql.withTransaction(call))))
          }
          assert.strictEqual((yield* platform.calls).length, before)
        }))

      it.effect("take accounts of a seed that runs in a transaction", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const messenger = yield* MessengerSession
          const { sessionRef } = yield* sql.withTransaction(arrangeUnopened)
          const live = yield* messenger.open(sessionRef)
          assert.strictEqual((yield* live.profile).first_name, "Seed")
        }))
    })
  })
})

describe("with its database away", () => {
  it.effect("the platform is away, and no failure of the storage is a defect", () =>
    Effect.gen(function*() {
      const messenger = yield* MessengerSession
      const failure = yield* Effect.flip(messenger.open(SessionRef.make("any")))
      assert.strictEqual(failure._tag, "PlatformUnavailable")
    }).pipe(
      Effect.scoped,
      Effect.provide(Simulated.layerSql),
      Effect.provide(postgresLayer("postgres://console:secret@127.0.0.1:1/console"))
    ))
})

describe("without a messenger", () => {
  it.effect("no account has a session", () =>
    Effect.gen(function*() {
      const messenger = yield* MessengerSession
      assert.strictEqual((yield* Effect.flip(messenger.open(SessionRef.make("any"))))._tag, "NoSession")
    }).pipe(Effect.provide(Simulated.layerNone)))
})
