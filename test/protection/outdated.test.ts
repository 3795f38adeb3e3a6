/** What was seen before something else changed the account, or by a process that watches no more. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { everySlot } from "../../src/domain/accounts/Slot.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import type { Db } from "../../src/ports/Db.ts"
import { MessengerSession, NoSession } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import * as Logins from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import { forgetOthers, jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

/**
 * What happens once a look has its answer, or none from a dead session; and the term under which the process watches.
 */
class Meanwhile extends Context.Service<Meanwhile, {
  act: Effect.Effect<void> | null
  dead: boolean
  term: number | null
}>()("test/protection/outdated.test/Meanwhile") {}

const disturbed = (world: ReturnType<typeof World.world>) =>
  Worker.layer().pipe(
    Layer.provide(Layer.effect(
      MessengerSession,
      Effect.gen(function*() {
        const messenger = yield* MessengerSession
        const meanwhile = yield* Meanwhile
        return {
          ...messenger,
          open: (ref, slot) =>
            Effect.map(messenger.open(ref, slot), (live) => ({
              ...live,
              authorizations: Effect.suspend(() => {
                const { act, dead } = meanwhile
                if (act === null) return live.authorizations
                meanwhile.act = null
                return Effect.tap(
                  Effect.result(dead ? Effect.fail(new NoSession({ reason: "revoked" })) : live.authorizations),
                  () => act
                ).pipe(Effect.flatMap(Effect.fromResult))
              })
            }))
        }
      })
    )),
    Layer.provide(Layer.effect(
      Ownership,
      Effect.map(Meanwhile, (meanwhile) => ({
        term: () => meanwhile.term,
        owned: () => everySlot,
        changes: Stream.never,
        closing: () => Effect.void
      }))
    )),
    Layer.provideMerge(Layer.sync(Meanwhile, (): Meanwhile["Service"] => ({ act: null, dead: true, term: 1 }))),
    Layer.provideMerge(world)
  )

const connected = Effect.gen(function*() {
  const stage = yield* Logins.staged()
  yield* forgetOthers
  const person = yield* Logins.meet()
  const { body: { account_id: account } } = yield* stage.connected(person)
  yield* jump("1 minute")
  return { stage, person, account, meanwhile: yield* Meanwhile }
})

describe("12.6 a look that is outdated when it ends", () => {
  layer(disturbed(World.world(postgres)))((it) => {
    it.effect("says nothing of the session that a new login has made meanwhile", () =>
      Effect.gen(function*() {
        const { account, meanwhile, person, stage } = yield* connected
        meanwhile.dead = false
        const services = yield* Effect.context<Effect.Services<ReturnType<typeof stage.connected>>>()
        meanwhile.act = Effect.gen(function*() {
          const { body: login } = yield* stage.relogin(account)
          assert.strictEqual((yield* stage.code(login.id, yield* person.code)).body.state, "completed")
        }).pipe(Effect.provideContext(services), Effect.asVoid)
        yield* jump("2 minutes")
        assert.isNull(meanwhile.act)
        assert.strictEqual((yield* stage.account(account)).status, "recently_connected")
        assert.notInclude(yield* stage.actions, "session.lost")
      }))

    it.effect("leaves the codes that were pushed meanwhile to the next one", () =>
      Effect.gen(function*() {
        const { account, meanwhile, person, stage } = yield* connected
        const { heard } = yield* LiveSessions
        const known = yield* heard
        yield* stage.platform.sendCode(person.userId)
        yield* heard.pipe(
          Effect.delay("2 millis"),
          Effect.repeat({ until: (count) => count > known, times: 1000 }),
          TestClock.withLive
        )
        meanwhile.dead = false
        meanwhile.act = World.query(
          stage.id,
          (sql) => sql`update monitor set epoch = epoch + 1 where account_id = ${account} returning epoch`
        ).pipe(Effect.provideContext(yield* Effect.context<Db | SqlClient.SqlClient>()), Effect.orDie, Effect.asVoid)
        yield* jump("2 minutes")
        assert.isNull(meanwhile.act)
        assert.include(yield* stage.actions, "login.attempted")
      }))

    it.effect("changes nothing where another process watches by then", () =>
      Effect.gen(function*() {
        const { account, meanwhile, stage } = yield* connected
        const before = yield* stage.actions
        meanwhile.dead = true
        meanwhile.act = Effect.sync(() => void (meanwhile.term = 2))
        yield* jump("2 minutes")
        assert.isNull(meanwhile.act)
        assert.strictEqual((yield* stage.account(account)).status, "recently_connected")
        assert.deepStrictEqual(yield* stage.actions, before)
      }))
  })
})
