import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import * as Logins from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import { established, start } from "../support/protection/watched.ts"
import { advance, jump } from "../support/protection/watching.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

type Call = "cancelRecoveryEmail" | "security" | "signOut"

/** An action while a call is on its way; of a sign-out it is given the session. */
class Meanwhile extends Context.Service<Meanwhile, {
  call: Call
  act: ((id: string) => Effect.Effect<void>) | null
}>()("test/protection/meanwhile.test/Meanwhile") {}

const disturbed = (world: ReturnType<typeof World.world>) =>
  Worker.layer().pipe(
    Layer.provide(Layer.effect(
      MessengerSession,
      Effect.gen(function*() {
        const messenger = yield* MessengerSession
        const meanwhile = yield* Meanwhile
        const before = <A, E, R>(name: Call, id: string, call: Effect.Effect<A, E, R>) =>
          Effect.suspend(() => {
            const { act } = meanwhile
            if (act === null || meanwhile.call !== name) return call
            meanwhile.act = null
            return Effect.andThen(act(id), call)
          })
        return {
          ...messenger,
          open: (ref) =>
            Effect.map(messenger.open(ref), (live) => ({
              ...live,
              cancelRecoveryEmail: before("cancelRecoveryEmail", "", live.cancelRecoveryEmail),
              security: (held) => before("security", "", live.security(held)),
              signOut: (id) => before("signOut", id, live.signOut(id))
            }))
        }
      })
    )),
    Layer.provideMerge(Layer.sync(Meanwhile, (): Meanwhile["Service"] => ({ call: "signOut", act: null }))),
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
  meanwhile.call = "signOut"
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
  layer(disturbed(World.world(postgres)))((it) => {
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

    it.effect("S4.11-05: who is connected again keeps the 2FA password that was to be removed, and its session", () =>
      Effect.gen(function*() {
        const stage = yield* Logins.staged()
        const meanwhile = yield* Meanwhile
        const ours = Redacted.make("the service's own")
        const person = yield* Logins.meet()
        const { body: { account_id: account } } = yield* stage.connected(person)
        yield* jump("1 minute")
        yield* stage.platform.changeSecurity(person.userId, { two_fa_password: ours })
        yield* HeldSecrets.hold(stage.id, account, { password: ours })
        yield* stage.platform.script({ answer: { _tag: "Unavailable" }, times: 50, userId: person.userId })
        const { body: offboarded } = yield* World.post(`/v1/accounts/${account}/offboard`, stage.key)
        assert.strictEqual(offboarded.action, "offboarded_two_fa_held")
        yield* stage.platform.clearScripts
        const services = yield* Effect.context<Effect.Services<ReturnType<typeof stage.connected>>>()
        meanwhile.call = "security"
        meanwhile.act = () =>
          Effect.gen(function*() {
            const { body: login } = yield* stage.connected(person)
            yield* stage.password(login.id, Redacted.value(ours))
          }).pipe(Effect.provideContext(services))
        yield* jump("2 minutes")
        assert.isNull(meanwhile.act)
        yield* jump("2 minutes")
        assert.isTrue(yield* stage.platform.isPassword(person.userId, ours))
        assert.deepStrictEqual(yield* HeldSecrets.slots(stage.id, account), ["two_fa held"])
        const { monitoring, status } = yield* stage.account(account)
        assert.deepStrictEqual([status, monitoring.state], ["recently_connected", "active"])
        assert.strictEqual(yield* stage.sessions, 1)
        const [secret] = yield* World.query<{ erase_at: Date | null }>(
          stage.id,
          (sql) => sql`select erase_at from account_secret where organization_id = ${stage.id}`
        )
        assert.isNull(secret?.erase_at)
        assert.notInclude((yield* stage.actions).join(), "two_fa.removed")
      }))
  })
})

describe("11 a change of the service's own whose intent the sweep closes while the messenger is called", () => {
  layer(disturbed(World.world(postgres)))((it) => {
    it.effect("is journaled as done by another intent, which names the first", () =>
      Effect.gen(function*() {
        const meanwhile = yield* Meanwhile
        yield* TestClock.setTime(start)
        const { admins, id } = yield* World.makeOrganization()
        const { id: account } = yield* World.makeLiveAccount(id, {}, { facts: established })
        yield* advance("1 minute")
        yield* World.put(`/v1/accounts/${account}/two-fa`, admins.owner.key, {})
        yield* World.send("POST", `/v1/accounts/${account}/recovery-email`, {
          key: admins.owner.key,
          body: { email: "new@example.org" }
        })
        const services = yield* Effect.context<Effect.Services<typeof closeAllIntents>>()
        meanwhile.call = "cancelRecoveryEmail"
        meanwhile.act = () => closeAllIntents.pipe(Effect.provideContext(services), Effect.asVoid, Effect.orDie)
        yield* advance("20 minutes")
        assert.isNull(meanwhile.act)
        const events = (yield* World.journal(id)).filter(({ action }) => action === "recovery_email.cancelled")
        const [first = 0, , second = 0] = events.map(({ sequence }) => sequence)
        assert.deepStrictEqual(
          events.map(({ closes, details, outcome }) => [outcome, closes, details["retries"] ?? null]),
          [["pending", null, null], ["failed", first, null], ["pending", null, first], ["done", second, first]]
        )
      }))
  })
})
