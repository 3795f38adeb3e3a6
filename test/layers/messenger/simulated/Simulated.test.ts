import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import * as Simulated from "../../../../src/layers/messenger/simulated/Simulated.ts"
import { callsKept, SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { asOwner, forEachDatabase } from "../../../support/postgres/database.ts"
import { postgresLayer } from "../../../support/postgres/databaseRoles.ts"
import { arrange, arrangeUnopened, simulation } from "./simulation.ts"

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
          const received = yield* Effect.forkChild(Stream.runCollect(one.events))
          for (const live of [one, two, one]) {
            assert.deepInclude(yield* Effect.flip(live.profile), { _tag: "NoSession", reason: "key_duplicated" })
          }
          assert.deepStrictEqual(yield* Fiber.join(received), [{ _tag: "Lost", reason: "key_duplicated" }])
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
          assert.strictEqual(tables.length, 10)
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
