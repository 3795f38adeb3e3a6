import { assert, describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Secrets } from "../../src/ports/security/Secrets.ts"
import { dying } from "../support/crashing.ts"
import { forSpecification, postgres } from "../support/postgres/database.ts"
import { established, start } from "../support/protection/watched.ts"
import { advance, forgetOthers, jump } from "../support/protection/watching.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

const holders = Redacted.make("the holder's own")

const staged = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  const secrets = yield* Secrets
  yield* platform.clearScripts
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {}, { facts: established })
  yield* advance("1 minute")
  const { key } = admins.admin
  yield* World.grant(id, admins.admin.id, { accounts: [account] })
  const path = `/v1/accounts/${account}/two-fa`
  const candidates = secrets.candidates({ organizationId: OrganizationId.make(id), accountId: account })
  return {
    account,
    admins,
    id,
    path,
    platform,
    userId,
    candidates,
    set: (body: object = {}, headers: Record<string, string> = {}) => World.send("PUT", path, { key, body, headers }),
    remove: World.send("DELETE", path, { key }),
    slots: HeldSecrets.slots(id, account),
    profile: Effect.map(World.get(`/v1/accounts/${account}/messenger-profile`, key), ({ body }) => body),
    /** Whether the first of the candidates is the account's password on the messenger. */
    managed: Effect.gen(function*() {
      const [first] = (yield* candidates).passwords
      return first !== undefined && first.slot === "held" && (yield* platform.isPassword(userId, first.password))
    }),
    events: Effect.map(
      World.journal(id),
      (all) =>
        all.filter(({ action }) => !action.startsWith("console.")).map(({ action, outcome }) => `${action} ${outcome}`)
    )
  }
})

const summaryOf = ({ body, status }: World.Answer) => [status, body.action ?? body.error.code]

describe("4.16 2FA", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("a password is made, kept and set; set again it is replaced; no signal follows", () =>
        Effect.gen(function*() {
          const { candidates, events, managed, profile, set, slots } = yield* staged
          expect(summaryOf(yield* set())).toEqual([200, "two_fa_set"])
          assert.isTrue(yield* managed)
          const [first] = (yield* candidates).passwords
          expect(Redacted.value(first!.password)).toMatch(/^[A-HJ-NP-Za-km-z2-9]{20}$/)
          expect(yield* profile).toMatchObject({ two_fa_present: true, two_fa_managed: true })
          expect(summaryOf(yield* set())).toEqual([200, "two_fa_set"])
          assert.isTrue(yield* managed)
          const [second] = (yield* candidates).passwords
          expect(Redacted.value(second!.password)).not.toBe(Redacted.value(first!.password))
          expect(yield* slots).toEqual(["two_fa held"])
          yield* advance("30 minutes")
          expect(yield* events).toEqual([
            "two_fa.set pending",
            "two_fa.set done",
            "two_fa.set pending",
            "two_fa.set done"
          ])
        }))

      it.effect("a holder's password is needed, and five wrong ones are tried in an hour", () =>
        Effect.gen(function*() {
          const { events, managed, platform, set, slots, userId } = yield* staged
          yield* platform.changeSecurity(userId, { two_fa_password: holders })
          expect(World.refusal(yield* set())).toEqual([409, "two_fa_password_required", "current_password"])
          for (let count = 0; count < 5; count++) {
            expect(World.refusal(yield* set({ current_password: "wrong" }))).toEqual([
              400,
              "password_invalid",
              "current_password"
            ])
          }
          const refused = yield* set({ current_password: Redacted.value(holders) })
          expect(World.refusal(refused)).toEqual([429, "too_many_attempts"])
          expect(refused.headers.get("retry-after")).toBe("3600")
          expect([yield* slots, yield* events]).toEqual([[], []])
          yield* TestClock.adjust("61 minutes")
          for (let count = 0; count < 7; count++) {
            yield* platform.changeSecurity(userId, { two_fa_password: holders })
            expect(summaryOf(yield* set({ current_password: Redacted.value(holders) }))).toEqual([200, "two_fa_set"])
          }
          assert.isTrue(yield* managed)
        }))

      it.effect("removing takes the recovery address with it, keeps the password for a week, and leaves a holder's alone", () =>
        Effect.gen(function*() {
          const { events, platform, profile, remove, set, slots, userId } = yield* staged
          expect(summaryOf(yield* remove)).toEqual([200, "two_fa_removed"])
          expect(yield* events).toEqual([])
          yield* set()
          yield* platform.changeSecurity(userId, { recovery_email: "ada@example.org" })
          yield* advance("15 minutes")
          expect(summaryOf(yield* remove)).toEqual([200, "two_fa_removed"])
          expect(yield* profile).toMatchObject({
            two_fa_present: false,
            two_fa_managed: false,
            recovery_email_pattern: null
          })
          expect(yield* slots).toEqual(["two_fa retired"])
          yield* advance("15 minutes")
          expect((yield* events).filter((event) => !event.startsWith("two_fa."))).toEqual([
            "outside_change.detected done"
          ])
          yield* platform.changeSecurity(userId, { two_fa_password: holders })
          expect(summaryOf(yield* remove)).toEqual([409, "two_fa_not_managed"])
          expect((yield* events).at(-1)).toBe("two_fa.removed refused")
        }))

      it.effect("a password that the messenger refuses to remove stays held", () =>
        Effect.gen(function*() {
          const { events, managed, platform, remove, set, slots, userId } = yield* staged
          yield* set()
          yield* platform.script({
            userId,
            operation: "remove_password",
            answer: { _tag: "Refused", reason: "REASON" }
          })
          expect(summaryOf(yield* remove)).toEqual([409, "messenger_refused"])
          expect(yield* slots).toEqual(["two_fa held"])
          assert.isTrue(yield* managed)
          expect((yield* events).slice(-2)).toEqual(["two_fa.removed pending", "two_fa.removed failed"])
        }))

      it.effect("after a takeover the password that is kept is replaced, by the service and journaled, until it works", () =>
        Effect.gen(function*() {
          const { candidates, id, managed, platform, set, slots, userId } = yield* staged
          yield* set()
          const [before] = (yield* candidates).passwords
          yield* platform.logIn(userId, { device_model: "Pixel 9" })
          yield* jump("75 seconds")
          yield* platform.changeSecurity(userId, { recovery_email: "thief@example.org" })
          yield* platform.script({ userId, operation: "set_password", answer: { _tag: "Lost" } })
          yield* jump("75 seconds")
          yield* jump("75 seconds")
          yield* jump("75 seconds")
          assert.isTrue(yield* managed)
          const [after] = (yield* candidates).passwords
          expect(Redacted.value(after!.password)).not.toBe(Redacted.value(before!.password))
          expect(yield* slots).toEqual(["two_fa held"])
          const rotations = (yield* World.journal(id)).filter(({ action, details }) =>
            action === "two_fa.set" && details["reason"] === "takeover"
          )
          expect(rotations.map(({ outcome, via }) => `${outcome} ${via}`)).toEqual([
            "pending background",
            "failed background",
            "pending background",
            "done background"
          ])
        }))

      it.effect("a repeated idempotency key gets the answer again without a second change", () =>
        Effect.gen(function*() {
          const { candidates, set } = yield* staged
          const once = { "idempotency-key": "once" }
          const first = yield* set({}, once)
          const [before] = (yield* candidates).passwords
          const again = yield* set({}, once)
          expect([first.status, again.body]).toEqual([200, first.body])
          expect(again.headers.get("idempotent-replayed")).toBe("true")
          expect((yield* candidates).passwords[0]!.id).toBe(before!.id)
        }))

      it.effect("what was not heard of is found at the next look: the password that holds is kept", () =>
        Effect.gen(function*() {
          const { events, managed, platform, remove, set, slots, userId } = yield* staged
          yield* platform.script({ userId, operation: "set_password", answer: { _tag: "Lost" } })
          expect(summaryOf(yield* set())).toEqual([503, "messenger_unavailable"])
          expect(yield* slots).toEqual(["two_fa next"])
          yield* advance("2 minutes")
          assert.isTrue(yield* managed)
          yield* platform.script({ userId, operation: "set_password", answer: { _tag: "Unavailable" } })
          expect(summaryOf(yield* set())).toEqual([503, "messenger_unavailable"])
          yield* advance("2 minutes")
          assert.isTrue(yield* managed)
          yield* platform.script({ userId, operation: "remove_password", answer: { _tag: "Unavailable" } })
          expect(summaryOf(yield* remove)).toEqual([503, "messenger_unavailable"])
          yield* advance("2 minutes")
          assert.isTrue(yield* managed)
          yield* platform.script({ userId, operation: "remove_password", answer: { _tag: "Lost" } })
          expect(summaryOf(yield* remove)).toEqual([503, "messenger_unavailable"])
          yield* advance("2 minutes")
          expect((yield* slots).filter((slot) => slot !== "two_fa retired")).toEqual([])
          expect((yield* events).filter((event) => !/^two_fa\.(?:set|removed) (?:pending|failed)$/.test(event)))
            .toEqual([])
        }))
    })
  })

  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("I5: wherever a process dies, the account's password is one of those that are held, and no signal is raised", () =>
      Effect.gen(function*() {
        for (const change of ["set", "replace", "remove"] as const) {
          for (let calls = 0, lived = false; !lived; calls++) {
            const { candidates, events, managed, platform, remove, set, slots, userId } = yield* staged
            if (change !== "set") yield* set()
            lived = yield* dying(calls, change === "remove" ? remove : set())
            const present = (yield* platform.isPassword(userId, holders)) ||
              (yield* Effect.forEach(
                (yield* candidates).passwords,
                ({ password }) => platform.isPassword(userId, password)
              )).includes(true)
            yield* jump("75 seconds")
            yield* jump("75 seconds")
            assert.strictEqual(yield* managed, present, `${change} after ${calls} calls`)
            const seen = (yield* events).filter((event) => !/^two_fa\.(?:set|removed) /.test(event))
            assert.deepStrictEqual(seen, [], `${change} after ${calls} calls`)
            expect(summaryOf(yield* set())).toEqual([200, "two_fa_set"])
            expect([yield* managed, yield* slots]).toEqual([true, ["two_fa held"]])
          }
        }
      }))
  })
})
