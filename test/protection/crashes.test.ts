import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { closeAbandonedIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Db } from "../../src/ports/Db.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import * as Fixtures from "../support/fixtures.ts"
import * as Logins from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import { established, start } from "../support/protection/watched.ts"
import { forgetOthers, jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

/** How many more calls are answered before the process is as dead; negative for all. */
const left = Ref.makeUnsafe(-1)

class Dead extends Error {}

/** Counts a call; the last one is done, and nobody hears of it. */
const counted = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Ref.getAndUpdate(left, (count) => Math.max(count - 1, -1)),
    (count) => count === 0 ? Effect.andThen(call, Effect.die(new Dead())) : call
  )

/** The engine over a database and a messenger whose n-th call is the last. */
const mortal = (world: ReturnType<typeof World.world>) =>
  Worker.layer().pipe(
    Layer.provide(Layer.effect(
      Db,
      Effect.map(Db, (db) => ({
        ...db,
        transaction: (organization, effect) => counted(db.transaction(organization, effect)),
        read: (organization, effect) => counted(db.read(organization, effect))
      }))
    )),
    Layer.provide(Layer.effect(
      MessengerSession,
      Effect.map(MessengerSession, (messenger) => ({
        ...messenger,
        open: (ref) =>
          Effect.map(messenger.open(ref), (live) => ({
            ...live,
            authorizations: counted(live.authorizations),
            logOut: counted(live.logOut),
            signOut: (id) => counted(live.signOut(id))
          }))
      }))
    )),
    Layer.provideMerge(world)
  )

const arrange = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {}, { facts: established })
  yield* jump("1 minute")
  return { account, admins, id, platform, userId }
})

/** How many sessions the service has of somebody on the messenger. */
const own = (userId: string) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      sql`select 1 from simulated_authorization where user_id = ${userId} and session_ref is not null`,
      (rows) => rows.length
    )
  )

describe("12.6 a process that dies in a step", () => {
  layer(mortal(World.world(postgres)))((it) => {
    it.effect("leaves a stranger detected once and signed out once, and no intent open, wherever it dies", () =>
      Effect.gen(function*() {
        for (let calls = 0; calls < 9; calls++) {
          const { account, admins, id, platform, userId } = yield* arrange
          yield* platform.logIn(userId, { device_model: "Pixel 9" })
          // The steps that detect the stranger, and those that sign them out: one of them dies after so many calls.
          yield* Ref.set(left, calls)
          yield* jump("75 seconds")
          yield* Ref.set(left, -1)
          yield* jump("75 seconds")
          yield* Ref.set(left, calls)
          yield* jump("12 hours")
          yield* Ref.set(left, -1)
          // What the process held is free by then, and nothing has to come first.
          yield* jump("25 seconds")
          const { body } = yield* World.get(`/v1/accounts/${account}`, admins.owner.key)
          assert.deepStrictEqual(
            body.terminations.map(({ actor, reason }: Record<string, unknown>) => [actor, reason]),
            [["service", "autokill"]],
            `after ${calls} calls`
          )
          assert.strictEqual(body.status, "protected")
          const events = yield* World.journal(id)
          const of = (action: string) => events.filter((event) => event.action === action)
          assert.lengthOf(of("session.detected"), 1)
          const intents = of("session.autokilled").filter(({ outcome }) => outcome === "pending")
          const outcomes = of("session.autokilled").filter(({ outcome }) => outcome !== "pending")
          assert.deepStrictEqual(outcomes.map(({ closes }) => closes), intents.map(({ sequence }) => sequence))
          assert.strictEqual(outcomes.at(-1)?.outcome, "done")
          assert.isTrue((yield* Fixtures.within(id, verify(id))).ok)
        }
      }))

    it.effect("leaves no session of the service but the one that a new login has made, wherever it dies", () =>
      Effect.gen(function*() {
        for (const swept of [false, true]) {
          const ways = new Set<string>()
          for (let calls = 0, lived = false; !lived; calls++) {
            const at = `after ${calls} calls${swept ? ", swept" : ""}`
            const stage = yield* Logins.staged()
            yield* forgetOthers
            const person = yield* Logins.meet()
            const { body: { account_id: account } } = yield* stage.connected(person)
            yield* jump("1 minute")
            const path = `/v1/accounts/${account}`
            yield* World.post(`${path}/pause`, stage.key)
            const { body: login } = yield* stage.relogin(account)
            assert.strictEqual((yield* stage.code(login.id, yield* person.code)).body.state, "completed")
            assert.strictEqual(yield* own(person.userId), 2)
            yield* Ref.set(left, calls)
            yield* jump("1 second")
            lived = (yield* Ref.getAndSet(left, -1)) >= 0
            if (swept) {
              yield* TestClock.adjust("70 seconds")
              yield* closeAbandonedIntents.run
            }
            yield* jump("75 seconds")
            assert.strictEqual(yield* own(person.userId), 1, at)
            for (const [table, rows] of [["service_session", 1], ["account_task", 0]] as const) {
              const found = yield* World.query(
                stage.id,
                (sql) => sql`select 1 from ${sql(table)} where organization_id = ${stage.id}`
              )
              assert.lengthOf(found, rows, `${table} ${at}`)
            }
            yield* World.post(`${path}/resume`, stage.key)
            yield* jump("1 minute")
            assert.lengthOf((yield* stage.account(account)).sessions, 1, at)
            yield* TestClock.adjust("61 seconds")
            yield* closeAbandonedIntents.run
            const journaled = (yield* World.journal(stage.id)).filter(({ action }) =>
              /session|outside|takeover/.test(action)
            )
            assert.deepStrictEqual([...new Set(journaled.map(({ action }) => action))], ["session.logged_out"], at)
            const intents = journaled.filter(({ outcome }) => outcome === "pending")
            const outcomes = journaled.filter(({ outcome }) => outcome !== "pending")
            const closed = outcomes.map(({ closes }) => closes).toSorted()
            assert.deepStrictEqual(closed, intents.map(({ sequence }) => sequence).toSorted(), at)
            const how = outcomes.map(({ details, outcome }) => `${outcome} ${details["certain"] ?? true}`)
            assert.strictEqual(how.at(-1), "done true", at)
            const again = intents.flatMap(({ details }) => details["retries"] ?? [])
            assert.deepStrictEqual(again, intents.slice(0, -1).map(({ sequence }) => sequence), at)
            ways.add(how.join())
          }
          // A call whose answer is lost, and an intent that the sweep has closed, are followed by another intent.
          assert.sameMembers([...ways], ["done true", "failed false,done true"])
        }
      }))
  })
})
