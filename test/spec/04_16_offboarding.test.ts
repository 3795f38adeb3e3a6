import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { forgetSecrets } from "../../src/jobs/security/forget_secrets.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { dying } from "../support/crashing.ts"
import * as Logins from "../support/logins/logins.ts"
import * as Outbox from "../support/mail/outbox.ts"
import * as Limited from "../support/people/limited.ts"
import { forSpecification, pglite } from "../support/postgres/database.ts"
import { start } from "../support/protection/watched.ts"
import { advance, jump } from "../support/protection/watching.ts"
import { ours, staged } from "../support/security/offboarding.ts"
import * as World from "../support/world.ts"

const summaryOf = ({ body, status }: World.Answer) => [status, body.action ?? body.error.code, body.status]
const done = [200, "offboarded", "available"]

describe("4.16 offboarding", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("S4.11-05: what the service set is released, it logs out, and seat and person are free", () =>
        Effect.gen(function*() {
          const stage = yield* staged
          expect([yield* stage.seats, yield* stage.authorizations]).toEqual([1, 2])
          // Of two that meet one does it, and the other finds it done.
          const racing = yield* Effect.forkChild(
            Effect.all([stage.offboard, stage.offboard], { concurrency: "unbounded" })
          )
          while (racing.pollUnsafe() === undefined) {
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
            yield* TestClock.adjust("20 millis")
          }
          const both = yield* Fiber.join(racing)
          expect(both.map(summaryOf).sort(([one], [other]) => one - other)).toEqual([done, [
            409,
            "already_offboarded",
            undefined
          ]])
          expect([yield* stage.seats, yield* stage.authorizations, yield* stage.isSet]).toEqual([0, 0, false])
          expect(yield* stage.slots).toEqual([])
          for (const table of ["session", "termination", "service_session", "messenger_identity", "account_task"]) {
            expect([table, yield* stage.query(table)]).toEqual([table, []])
          }
          expect((yield* stage.last)?.details).toEqual({ two_fa: "removed", passkey: "removed" })
          const before = yield* stage.events
          yield* jump("2 hours")
          yield* advance("5 minutes")
          expect([yield* stage.events, summaryOf(yield* stage.offboard)]).toEqual([before, [
            409,
            "already_offboarded",
            undefined
          ]])
          expect(yield* stage.read).toMatchObject({
            status: "available",
            offboarded_at: expect.any(String),
            sessions: [],
            monitoring: { state: "stopped" },
            licence: { uses_licence: false }
          })
          const { userId } = stage.person
          const security = yield* SqlClient.SqlClient.use((sql) =>
            sql`select passkey_ids, recovery_email_pattern from simulated_account where user_id = ${userId}`
          )
          expect(security).toEqual([{ passkey_ids: ["the holder's"], recovery_email_pattern: null }])
        }))
    })
  })

  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("what cannot be reached is held, tried again, and given back once the messenger answers", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* stage.platform.script({ answer: { _tag: "Unavailable" }, times: 50, userId: stage.person.userId })
        expect(summaryOf(yield* stage.offboard)).toEqual([200, "offboarded_two_fa_held", "available"])
        expect((yield* stage.last)?.details).toEqual({ two_fa: "held", passkey: "held" })
        expect([yield* stage.seats, yield* stage.authorizations, yield* stage.slots]).toEqual([0, 2, ["two_fa held"]])
        expect(yield* stage.query("messenger_identity")).toEqual([])
        yield* stage.platform.clearScripts
        yield* jump("2 minutes")
        expect([yield* stage.authorizations, yield* stage.isSet, yield* stage.slots]).toEqual([0, false, []])
        expect((yield* stage.events).slice(-6)).toEqual([
          "two_fa.removed pending",
          "two_fa.removed done",
          "session.logged_out pending",
          "session.logged_out done",
          "session.logged_out pending",
          "session.logged_out done"
        ])
        expect(yield* stage.query("account_task")).toEqual([])
      }))

    it.effect("it ends within 30 seconds, however slowly the messenger answers, and the rest is done later", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        const { userId } = stage.person
        yield* stage.platform.script({ answer: { _tag: "Slow", milliseconds: 5000 }, times: 50, userId })
        const began = yield* Clock.currentTimeMillis
        const offboarding = yield* Effect.forkChild(stage.offboard)
        while (offboarding.pollUnsafe() === undefined) {
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
          yield* TestClock.adjust("100 millis")
        }
        expect(summaryOf(yield* Fiber.join(offboarding))).toEqual(done)
        expect(yield* stage.authorizations).toBeGreaterThan(0)
        const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
        expect(seconds).toBeGreaterThan(20)
        expect(seconds).toBeLessThan(30)
        yield* stage.platform.clearScripts
        yield* jump("2 minutes")
        yield* jump("2 minutes")
        expect([yield* stage.authorizations, yield* stage.isSet, yield* stage.slots]).toEqual([0, false, []])
      }))

    it.effect("a password that is not revealed is reported 14 days before it is erased after 90; keys are erased after 30", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* stage.platform.script({ answer: { _tag: "Unavailable" }, times: 100_000, userId: stage.person.userId })
        expect(summaryOf(yield* stage.offboard)).toEqual([200, "offboarded_two_fa_held", "available"])
        yield* jump("29 days")
        expect(yield* stage.query("service_session")).toHaveLength(2)
        yield* jump("26 hours")
        yield* jump("26 hours")
        expect([yield* stage.query("service_session"), yield* stage.query("account_task")]).toEqual([[], []])
        const mails = Effect.map(
          Outbox.waiting(stage.id),
          (all) => all.filter(({ kind }) => kind === "secret_unrevealed")
        )
        yield* TestClock.setTime(start + 75 * 86_400_000)
        yield* forgetSecrets.run
        expect(yield* mails).toEqual([])
        yield* TestClock.setTime(start + 77 * 86_400_000)
        yield* forgetSecrets.run
        yield* forgetSecrets.run
        expect(yield* mails).not.toEqual([])
        expect(new Set((yield* mails).map(({ recipient }) => recipient)).size).toBe((yield* mails).length)
        expect(yield* stage.slots).toEqual(["two_fa held"])
        yield* TestClock.setTime(start + 91 * 86_400_000)
        yield* forgetSecrets.run
        expect([yield* stage.slots, (yield* stage.events).at(-1)]).toEqual([[], "two_fa.erased done"])
      }))

    it.effect("it works from every state, also without a session, and a login into the account ends with it", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        const { key } = stage.admins.owner
        yield* World.post(`${stage.path}/pause`, key)
        expect(summaryOf(yield* stage.offboard)).toEqual(done)
        const gone = yield* World.makeAccount(stage.id, {
          facts: { stopped_at: new Date(start), stop_reason: "session_lost" }
        })
        const { body: login } = yield* World.send("POST", `/v1/accounts/${gone}/relogin`, { key, body: {} })
        expect(summaryOf(yield* World.post(`/v1/accounts/${gone}/offboard`, key))).toEqual(done)
        if (login.id !== undefined) {
          expect((yield* World.get(`/v1/logins/${login.id}`, key)).body.state).toBe("cancelled")
          expect(yield* stage.events).toContain("login.cancelled done")
        }
      }))

    it.effect("who does not reach the account does not find it, and billing and archive may not", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        const { admin, archive, billing, owner } = stage.admins
        expect(summaryOf(yield* stage.as(admin))).toEqual([404, "resource_missing", undefined])
        for (const who of [archive, billing]) {
          expect(summaryOf(yield* stage.as(who))).toEqual([403, "role_forbidden", undefined])
        }
        const other = yield* World.makeAccount(stage.id)
        const limited = yield* Limited.connect(stage.id, owner, { accounts: [other] })
        expect(yield* limited.call("offboard_account", { account_id: stage.account })).toMatchObject({
          code: "resource_missing"
        })
        yield* World.grant(stage.id, admin.id, { accounts: [stage.account] })
        expect(summaryOf(yield* stage.as(admin))).toEqual(done)
      }))

    it.effect("the account is connected again as the same one, and what was held of it does not end by itself", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        const { phone, userId } = stage.person
        yield* stage.platform.script({ answer: { _tag: "Unavailable" }, times: 50, userId })
        yield* stage.offboard
        yield* stage.platform.clearScripts
        const owner = Logins.actor(stage.admins.owner.key)
        const { body: login } = yield* owner.connect(`+${phone}`)
        const sent = (yield* stage.platform.codes).findLast((one) => one.phone === phone)
        const { body: asked } = yield* owner.code(login.id, Redacted.value(sent!.code))
        expect(asked.state).toBe("password_needed")
        const { body } = yield* owner.password(login.id, Redacted.value(ours))
        expect(body).toMatchObject({ state: "completed", account_id: stage.account })
        yield* jump("2 minutes")
        yield* jump("2 minutes")
        expect([yield* stage.authorizations, yield* stage.seats, yield* stage.isSet]).toEqual([1, 1, true])
        expect(yield* stage.read).toMatchObject({ status: "recently_connected", offboarded_at: null })
        yield* TestClock.setTime(start + 100 * 86_400_000)
        yield* forgetSecrets.run
        expect(yield* stage.slots).toEqual(["two_fa held"])
      }))

    it.effect("wherever a process dies, offboarding is made again, or is done, and nothing of the service stays", () =>
      Effect.gen(function*() {
        for (let calls = 0, lived = false; !lived; calls++) {
          const stage = yield* staged
          lived = yield* dying(calls, stage.offboard)
          yield* jump("75 seconds")
          const { status } = yield* stage.offboard
          expect([calls, [200, 409].includes(status)]).toEqual([calls, true])
          yield* jump("75 seconds")
          yield* jump("75 seconds")
          expect([calls, yield* stage.authorizations, yield* stage.isSet, yield* stage.slots, yield* stage.seats])
            .toEqual([calls, 0, false, [], 0])
          expect([calls, yield* stage.query("service_session"), yield* stage.query("account_task")])
            .toEqual([calls, [], []])
          expect((yield* stage.events).filter((event) => /outside|takeover|lost/.test(event))).toEqual([])
        }
      }))
  })
})
