import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Ref } from "effect"
import { TestClock } from "effect/testing"
import { loginHeld } from "../../src/domain/Limits.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Db } from "../../src/ports/Db.ts"
import { LoginStarts } from "../../src/ports/logins/Logins.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { LoginEndings } from "../../src/protection/LoginEndings.ts"
import * as Fixtures from "../support/fixtures.ts"
import { actor, meet, staged, summaryOf } from "../support/logins/logins.ts"
import { pglite, postgres } from "../support/postgres/database.ts"
import { advance, jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const world = (database: typeof pglite) => Worker.layer().pipe(Layer.provideMerge(World.world(database)))

const secret = "horse staple of its own"

/** How many more calls are answered before the process is dead; infinite for all. */
const left = Ref.makeUnsafe(Infinity)

/** Counts a call; the last one is done and nobody hears of it, and none comes after it. */
const counted = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Ref.getAndUpdate(left, (count) => count - 1), (count) => {
    const dead = Effect.die(new Error("dead"))
    return count > 0 ? call : count === 0 ? Effect.andThen(call, dead) : dead
  })

/** The request to a process that dies after so many calls to the database and the messenger. */
const dying = Effect.fnUntraced(function*<A, E, R>(calls: number, request: Effect.Effect<A, E, R>) {
  const db = yield* Db
  const messenger = yield* MessengerSession
  yield* Ref.set(left, calls)
  yield* request.pipe(
    Effect.provideService(Db, {
      ...db,
      transaction: (organization, effect) => counted(db.transaction(organization, effect))
    }),
    Effect.provideService(MessengerSession, {
      ...messenger,
      begin: (ref, phone) => counted(messenger.begin(ref, phone)),
      resend: (state) => counted(messenger.resend(state)),
      submitCode: (state, code) => counted(messenger.submitCode(state, code)),
      submitPassword: (state, password) => counted(messenger.submitPassword(state, password)),
      cancel: (state) => counted(messenger.cancel(state))
    })
  )
  yield* Ref.set(left, Infinity)
  yield* TestClock.adjust(Duration.sum(loginHeld, Duration.seconds(1)))
})

describe("a process that dies in a step of a login", () => {
  layer(world(pglite))((it) => {
    for (const two_fa of [false, true]) {
      it.effect(
        `${two_fa ? "with" : "without"} a 2FA password: the next step goes on, and the account is connected once`,
        () =>
          Effect.gen(function*() {
            for (let calls = 0; calls < 4; calls++) {
              const at = `after ${calls} calls`
              const stage = yield* staged()
              const person = yield* meet(two_fa ? { security: { two_fa_password: Redacted.make(secret) } } : {})
              yield* dying(calls, stage.connect(person.phone))
              const { body: login } = yield* stage.connect(person.phone)
              assert.strictEqual(login.code_delivery, "sms", at)
              yield* dying(calls, Effect.flatMap(person.code, (code) => stage.code(login.id, code)))
              const state = Effect.map(stage.read(login.id), ({ body }) => body.state)
              if ((yield* state) === "code_sent") yield* stage.code(login.id, yield* person.code)
              if (two_fa) {
                yield* dying(calls, stage.password(login.id, secret))
                if ((yield* state) === "password_needed") yield* stage.password(login.id, secret)
              }
              assert.strictEqual(yield* state, "completed", at)
              assert.deepStrictEqual([(yield* stage.seats).used, yield* stage.sessions], [1, 1], at)
              assert.deepStrictEqual(
                yield* stage.actions,
                ["login.started", "login.completed", "account.connected"],
                at
              )
              assert.isTrue((yield* Fixtures.within(stage.id, verify(stage.id))).ok)
            }
          })
      )
    }

    it.effect("leaves no session on the messenger where nobody goes on with it", () =>
      Effect.gen(function*() {
        for (let calls = 0; calls < 4; calls++) {
          const stage = yield* staged()
          const person = yield* meet()
          const { body: login } = yield* stage.connect(person.phone)
          const code = yield* person.code
          yield* dying(calls, stage.code(login.id, code))
          const { body: before } = yield* stage.read(login.id)
          yield* TestClock.adjust("11 minutes")
          yield* (yield* LoginEndings).end
          const { body } = yield* stage.read(login.id)
          const connected = before.state === "completed"
          assert.strictEqual(body.state, connected ? "completed" : "expired", `after ${calls} calls`)
          assert.strictEqual(yield* stage.sessions, connected ? 1 : 0)
        }
        const stage = yield* staged()
        const person = yield* meet()
        const { body: login } = yield* stage.connect(person.phone)
        yield* stage.platform.script({ userId: person.userId, operation: "cancel", answer: { _tag: "Unavailable" } })
        yield* stage.platform.script({ userId: person.userId, operation: "submit_code", answer: { _tag: "Lost" } })
        yield* stage.code(login.id, yield* person.code)
        assert.strictEqual(yield* stage.sessions, 1)
        assert.strictEqual(summaryOf(yield* stage.cancel(login.id)), "200 cancelled")
        assert.strictEqual(yield* stage.sessions, 1)
        yield* (yield* LoginEndings).end
        assert.strictEqual(yield* stage.sessions, 0)
      }))

    it.effect("sends the code again, or cancels, and the next step goes on", () =>
      Effect.gen(function*() {
        for (let calls = 0; calls < 4; calls++) {
          const at = `after ${calls} calls`
          const stage = yield* staged()
          const person = yield* meet()
          const { body: login } = yield* stage.connect(person.phone)
          yield* TestClock.adjust("2 minutes")
          yield* dying(calls, stage.resend(login.id))
          yield* TestClock.adjust("2 minutes")
          assert.strictEqual(summaryOf(yield* stage.resend(login.id)), "200 code_sent", at)
          yield* dying(calls, stage.cancel(login.id))
          assert.include(["200 cancelled", "409 login_step"], summaryOf(yield* stage.cancel(login.id)), at)
          yield* (yield* LoginEndings).end
          const { body: again } = yield* stage.connect(person.phone)
          assert.notStrictEqual(again.id, login.id, at)
          assert.strictEqual(summaryOf(yield* stage.code(again.id, yield* person.code)), "200 completed", at)
          assert.deepStrictEqual([(yield* stage.seats).used, yield* stage.sessions], [1, 1], at)
          const all = yield* stage.actions
          assert.deepStrictEqual(all.filter((action) => action !== "login.code_resent"), [
            "login.started",
            "login.cancelled",
            "login.started",
            "login.completed",
            "account.connected"
          ], at)
          assert.isAtMost(all.length, 7, at)
        }
      }))

    it.effect("leaves a session that is the service's own, and no stranger to the look that finds it first", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        const { body: { account_id: account } } = yield* stage.connected(person)
        yield* jump("1 second")
        yield* stage.platform.setUnreachable(person.userId, true)
        yield* advance("5 minutes")
        assert.strictEqual((yield* stage.account(account)).status, "status_unknown")
        const { body: login } = yield* stage.relogin(account)
        const code = yield* person.code
        yield* dying(1, stage.code(login.id, code))
        yield* stage.platform.setUnreachable(person.userId, false)
        yield* advance("3 minutes")
        assert.strictEqual((yield* stage.read(login.id)).body.state, "completed")
        const { sessions, status } = yield* stage.account(account)
        // The one before is logged out.
        assert.deepStrictEqual(sessions.map((one: Record<string, unknown>) => one["service_session"]), [true])
        assert.strictEqual(status, "recently_connected")
        const actions = yield* stage.actions
        assert.include(actions, "account.reconnected")
        for (const action of ["session.detected", "login.attempted"]) assert.notInclude(actions, action)
      }))

    it.effect("hides from nobody that the account cannot be looked at", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        const { body: { account_id: account } } = yield* stage.connected(person)
        const unreachable = (on: boolean) => stage.platform.setUnreachable(person.userId, on)
        const status = Effect.map(stage.account(account), (body) => body.status)
        yield* jump("1 second")
        yield* unreachable(true)
        yield* advance("125 seconds")
        assert.strictEqual(yield* status, "recently_connected")
        yield* unreachable(false)
        const { body: login } = yield* stage.relogin(account)
        const code = yield* person.code
        yield* dying(1, stage.code(login.id, code))
        yield* unreachable(true)
        yield* stage.platform.script({
          userId: person.userId,
          operation: "resolve",
          answer: { _tag: "Unavailable" },
          times: 1000
        })
        yield* advance("3 minutes")
        assert.strictEqual(yield* status, "status_unknown")
        yield* unreachable(false)
        yield* stage.platform.clearScripts
        yield* advance("3 minutes")
        assert.strictEqual(yield* status, "recently_connected")
        assert.strictEqual((yield* stage.read(login.id)).body.state, "completed")
        for (const action of ["session.detected", "login.attempted"]) assert.notInclude(yield* stage.actions, action)
      }))

    it.effect("codes and passwords are nowhere: neither in a table nor in the journal, and a state is sealed", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet({ security: { two_fa_password: Redacted.make(secret) } })
        const keyed = actor(stage.key, { "idempotency-key": "once" })
        const first = yield* keyed.connect(person.phone)
        const again = yield* keyed.connect(person.phone)
        assert.deepStrictEqual([again.headers.get("idempotent-replayed"), again.body], ["true", first.body])
        const code = yield* person.code
        yield* keyed.code(first.body.id, code)
        yield* keyed.password(first.body.id, "wrong password of mine")
        const replayed = yield* actor(stage.key, { "idempotency-key": "other" }).password(first.body.id, secret)
        assert.strictEqual(summaryOf(replayed), "200 completed")
        const { login, ...rest } = yield* World.snapshot(stage.id)
        for (const planted of [secret, "wrong password of mine"]) {
          assert.notInclude(JSON.stringify([login, rest]), planted)
        }
        assert.notInclude(JSON.stringify(rest["journal_event"]), code)
        assert.notInclude(JSON.stringify(rest["idempotency_key"]), code)
        assert.isNull((login as ReadonlyArray<Record<string, unknown>>)[0]?.["state_sealed"] ?? null)
      }))
  })
})

describe("logins that meet", () => {
  layer(world(postgres))((it) => {
    it.effect("never take more seats than there are, and one person goes to one organization", () =>
      Effect.gen(function*() {
        const seats = 5
        const stage = yield* staged({ seat_limit: seats })
        const ready = yield* Effect.forEach(Array.from({ length: 16 }), () =>
          Effect.gen(function*() {
            const person = yield* meet()
            const { body } = yield* stage.connect(person.phone)
            return { id: body.id, code: yield* person.code }
          })).pipe(Effect.provideService(LoginStarts, 100))
        const answers = yield* Effect.forEach(ready, ({ code, id }) => stage.code(id, code), { concurrency: 16 })
        const ended = answers.map(summaryOf).toSorted()
        assert.deepStrictEqual(ended, [
          ...Array.from({ length: seats }, () => "200 completed"),
          ...Array.from({ length: 16 - seats }, () => "409 no_free_seat")
        ])
        assert.deepStrictEqual([(yield* stage.seats).used, yield* stage.sessions], [seats, seats])
        const [one, two] = [yield* staged(), yield* staged()]
        const person = yield* meet()
        const first = (yield* one.connect(person.phone)).body
        const code = yield* person.code
        const second = (yield* two.connect(person.phone)).body
        const both = yield* Effect.all([one.code(first.id, code), two.code(second.id, yield* person.code)], {
          concurrency: 2
        })
        assert.deepStrictEqual(both.map(summaryOf).toSorted(), ["200 completed", "409 already_connected"])
        assert.strictEqual((yield* one.sessions) + (yield* two.sessions), 1)
      }))
  })
})
