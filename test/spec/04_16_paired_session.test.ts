import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import * as Mcp from "../mcp/support.ts"
import { dying } from "../support/crashing.ts"
import { forSpecification, pglite } from "../support/postgres/database.ts"
import { established, fresh, makeWatched, start } from "../support/protection/watched.ts"
import { advance, forgetOthers, jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const staged = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {}, { facts: established })
  yield* advance("1 minute")
  const { key } = admins.owner
  const path = `/v1/accounts/${account}`
  return {
    id,
    platform,
    userId,
    pair: (body: object = {}) => World.send("PUT", `${path}/paired-session`, { key, body }),
    unpair: World.send("DELETE", `${path}/paired-session`, { key }),
    pause: World.post(`${path}/pause`, key),
    state: Effect.map(World.get(`${path}/messenger-profile`, key), ({ body }) => body.paired_session.state),
    account: Effect.map(World.get(path, key), ({ body }) => body),
    slots: Effect.map(
      World.query<{ slot: string }>(
        id,
        (sql) => sql`select slot from service_session where organization_id = ${id} order by slot`
      ),
      (rows) => rows.map(({ slot }) => slot)
    ),
    events: Effect.map(World.journal(id), (all) => all.map(({ action, outcome }) => `${action} ${outcome}`))
  }
})

/** How many sessions the service has of somebody on the messenger. */
const authorizations = (userId: string) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      sql`select 1 from simulated_authorization where user_id = ${userId} and session_ref is not null`,
      (rows) => rows.length
    )
  )

const summaryOf = ({ body, status }: World.Answer) => [status, body.action ?? body.error.code]

describe("4.16 paired session", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("is made once, is nobody's stranger, takes over where the first is lost, and is made anew then", () =>
        Effect.gen(function*() {
          const { account, events, pair, platform, slots, state, userId } = yield* staged
          expect(summaryOf(yield* pair())).toEqual([200, "paired_session_created"])
          expect(summaryOf(yield* pair())).toEqual([200, "paired_session_created"])
          expect([yield* state, yield* slots]).toEqual(["active", ["main", "paired"]])
          yield* advance("20 minutes")
          expect((yield* events).filter((event) => event.startsWith("session."))).toEqual([])
          expect((yield* account).sessions.every((session: any) => session.service_session)).toBe(true)
          const [first] = yield* platform.calls
          expect(first).toBeDefined()
          expect(userId).toBeDefined()
        }))

      it.effect("needs the holder's password where one is set, an active account, and is removed by itself", () =>
        Effect.gen(function*() {
          const { pair, pause, platform, slots, state, unpair, userId } = yield* staged
          expect(summaryOf(yield* unpair)).toEqual([409, "no_paired_session"])
          yield* platform.changeSecurity(userId, { two_fa_password: Redacted.make("holders") })
          expect(World.refusal(yield* pair())).toEqual([409, "two_fa_password_required", "current_password"])
          expect(World.refusal(yield* pair({ current_password: "wrong" }))).toEqual([
            400,
            "password_invalid",
            "current_password"
          ])
          expect(summaryOf(yield* pair({ current_password: "holders" }))).toEqual([200, "paired_session_created"])
          expect(summaryOf(yield* unpair)).toEqual([200, "paired_session_removed"])
          expect([yield* state, yield* slots]).toEqual(["none", ["main"]])
          yield* pause
          expect(summaryOf(yield* pair({ current_password: "holders" }))).toEqual([409, "not_active"])
        }))

      it.effect("3.2: a passkey is added through it where it is older than 24 hours and the main one is not", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* forgetOthers
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const { account, pair } = yield* makeWatched(organization, fresh)
          const add = World.send("PUT", `/v1/accounts/${account}/passkey`, { key })
          const profile = Effect.map(World.get(`/v1/accounts/${account}/messenger-profile`, key), ({ body }) => body)
          expect(summaryOf(yield* add)).toEqual([409, "passkey_not_eligible"])
          expect((yield* profile).passkey_eligible_at).not.toBeNull()
          yield* pair
          yield* advance("1 minute")
          expect((yield* profile).passkey_eligible_at).toBeNull()
          expect(summaryOf(yield* add)).toEqual([200, "passkey_added"])
          expect((yield* profile).passkey_managed).toBe(true)
        }))

      it.effect("5.1: requests act through it where it is older than 24 hours and the main one is not", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* forgetOthers
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const { account, pair, read, stranger, userId } = yield* makeWatched(organization, fresh)
          yield* pair
          yield* advance("1 minute")
          const path = `/v1/accounts/${account}/sessions`
          const ids = Effect.map(read, ({ sessions }) => sessions.map(({ id }: { id: string }) => id))
          const first = yield* stranger
          yield* advance("72 seconds")
          expect(summaryOf(yield* World.post(`${path}/${first}/sign-out`, key))).toEqual([200, "session_signed_out"])
          expect(yield* ids).not.toContain(first)
          const second = yield* stranger
          yield* advance("72 seconds")
          const args = { account_id: account, session_id: second }
          const { body } = yield* Mcp.call("sign_out_session", args, { key })
          expect(body.result.structuredContent).toMatchObject({ action: "session_signed_out" })
          // Two that signed in at one moment with one device: nobody knows which is which in the other list.
          const twins = [yield* stranger, yield* stranger]
          yield* advance("72 seconds")
          for (const twin of twins) {
            expect(summaryOf(yield* World.post(`${path}/${twin}/sign-out`, key))).toEqual([
              200,
              "session_sign_out_queued"
            ])
          }
          expect(yield* ids).toEqual(expect.arrayContaining(twins))
          const third = yield* stranger
          yield* advance("72 seconds")
          const platform = yield* SimulatedPlatform
          yield* platform.script({ answer: { _tag: "Slow", milliseconds: 7000 }, times: 50, userId })
          const began = yield* Clock.currentTimeMillis
          const asked = yield* Effect.forkChild(World.post(`${path}/${third}/sign-out`, key))
          while (asked.pollUnsafe() === undefined) {
            // The database answers in its own time, also where the machine is busy.
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
            yield* TestClock.adjust("250 millis")
          }
          yield* platform.clearScripts
          expect(summaryOf(yield* Fiber.join(asked))).toEqual([200, "session_sign_out_queued"])
          expect((yield* Clock.currentTimeMillis) - began).toBeLessThan(30_000)
        }))
    })
  })

  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("wherever a process dies, the session that came about is the service's own, and nothing is left behind", () =>
      Effect.gen(function*() {
        for (let calls = 0, lived = false; !lived; calls++) {
          const { account, events, pair, slots } = yield* staged
          lived = yield* dying(calls, pair())
          yield* jump("75 seconds")
          yield* jump("75 seconds")
          expect([calls, (yield* events).filter((event) => event.startsWith("session."))]).toEqual([calls, []])
          expect(summaryOf(yield* pair())).toEqual([200, "paired_session_created"])
          yield* jump("75 seconds")
          expect([calls, yield* slots]).toEqual([calls, ["main", "paired"]])
          expect((yield* account).sessions).toHaveLength(2)
        }
      }))

    it.effect("one that nobody knows the outcome of is logged out where another is made first", () =>
      Effect.gen(function*() {
        const { account, events, pair, slots, userId } = yield* staged
        // The last call before the outcome is written is the one that makes the session.
        for (let calls = 0, made = 1; made === 1; calls++) {
          yield* dying(calls, pair())
          made = yield* authorizations(userId)
          yield* TestClock.adjust("25 seconds")
        }
        expect(summaryOf(yield* pair())).toEqual([200, "paired_session_created"])
        expect([yield* authorizations(userId), (yield* slots).at(-1)]).toEqual([3, "retired"])
        yield* jump("1 second")
        expect([yield* authorizations(userId), yield* slots]).toEqual([2, ["main", "paired"]])
        yield* jump("75 seconds")
        expect((yield* account).sessions).toHaveLength(2)
        expect((yield* events).filter((event) => event.startsWith("session."))).toEqual([
          "session.logged_out pending",
          "session.logged_out done"
        ])
      }))

    it.effect("a first one whose key is lost is signed out by the second, once that may, and is nobody's stranger", () =>
      Effect.gen(function*() {
        const { account, events, id, pair, slots, userId } = yield* staged
        expect(summaryOf(yield* pair())).toEqual([200, "paired_session_created"])
        yield* advance("2 minutes")
        yield* World.query(id, (sql) =>
          sql`
          update service_session set session_ref = 'forgotten' where organization_id = ${id} and slot = 'main'
          returning id`)
        yield* advance("3 minutes")
        expect([yield* authorizations(userId), yield* slots]).toEqual([3, ["main", "paired", "retired"]])
        yield* advance("26 hours")
        expect([yield* authorizations(userId), yield* slots]).toEqual([2, ["main", "paired"]])
        expect((yield* account).sessions).toHaveLength(2)
        expect((yield* events).filter((event) => /^session|outside|takeover/.test(event))).toEqual([
          "session.logged_out pending",
          "session.logged_out done"
        ])
      }))
  })
})
