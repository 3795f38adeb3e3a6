/** What every implementation of MessengerSession keeps of logins, step by step, and of paired sessions. */
import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import type { NewSimulatedAccount } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { arranged, type Capability, holdsNothing, type MessengerHarness } from "./harness.ts"

let numbers = 0

const password = Redacted.make("horse staple")
const wrong = Redacted.make("no such code")

export const loginsContract = <R, E>(name: string, harness: MessengerHarness<R, E>): void => {
  const arrange = arranged(harness.world)
  const able = (capability: Capability) => harness.capabilities.has(capability)

  /** A person without a session of the service, and a login that may be begun for them. */
  const person = Effect.fnUntraced(function*(account: Partial<NewSimulatedAccount> = {}) {
    const world = yield* harness.world
    const messenger = yield* MessengerSession
    const number = ++numbers
    const phone = `4915770${10_000 + number}`
    const userId = yield* world.createAccount({ phone, first_name: "Jane", ...account })
    const ref = SessionRef.make(`login-${phone}`)
    const code = Effect.flatMap(world.codes, (all) => {
      const found = all.findLast((one) => one.phone === phone)
      return found === undefined ? Effect.die(new Error("No code has arrived.")) : Effect.succeed(found)
    })
    return { code, messenger, phone: `+${phone}`, ref, userId, world }
  })

  const reasonOf = (call: Effect.Effect<unknown, { readonly _tag: string; readonly reason?: string }>) =>
    Effect.match(call, {
      onFailure: ({ _tag, reason }) => reason === undefined ? _tag : `${_tag} ${reason}`,
      onSuccess: () => "done"
    })

  layer(harness.layer)(name, (it) => {
    describe("a login", () => {
      it.effect("signs in with the code, as the service's own session, which then lives under its reference", () =>
        Effect.gen(function*() {
          const { code, messenger, phone, ref, userId } = yield* person()
          assert.strictEqual(yield* reasonOf(Effect.scoped(messenger.open(ref))), "NoSession never")
          const sent = yield* messenger.begin(ref, phone)
          const arrived = yield* code
          assert.strictEqual(sent.codeLength, Redacted.value(arrived.code).length)
          assert.strictEqual(sent.channel, arrived.channel)
          assert.isNull(yield* messenger.resolve(sent.state))
          const connected = yield* messenger.submitCode(sent.state, arrived.code)
          assert.deepInclude(connected, { _tag: "Connected", userId })
          assert.deepStrictEqual(yield* messenger.resolve(sent.state), connected)
          const live = yield* messenger.open(ref)
          assert.strictEqual((yield* live.profile).user_id, userId)
          assert.deepStrictEqual(
            (yield* live.authorizations).map(({ current, id }) => [id, current]),
            [["0", true]]
          )
        }))

      it.effect("of an account with a 2FA password asks for it, and is listed as waiting until it has it", () =>
        Effect.gen(function*() {
          const { code, messenger, phone, ref, userId, world } = yield* person({
            security: { two_fa_password: password, two_fa_hint: "animal" }
          })
          const before = yield* messenger.open(yield* world.connect(userId))
          const { state } = yield* messenger.begin(ref, phone)
          const step = yield* messenger.submitCode(state, (yield* code).code)
          if (step._tag !== "PasswordStep") return assert.fail("The password is not asked for.")
          assert.strictEqual(step.hint, "animal")
          assert.isNull(yield* messenger.resolve(step.state))
          assert.strictEqual(yield* reasonOf(Effect.scoped(messenger.open(ref))), "NoSession never")
          assert.deepStrictEqual(
            (yield* before.authorizations).map(({ password_pending }) => password_pending).sort(),
            [false, true]
          )
          assert.strictEqual(yield* reasonOf(messenger.submitPassword(step.state, wrong)), "PasswordInvalid")
          const connected = yield* messenger.submitPassword(step.state, password)
          assert.deepStrictEqual(yield* messenger.resolve(step.state), connected)
          assert.isFalse((yield* before.authorizations).some(({ password_pending }) => password_pending))
        }))

      it.effect("refuses numbers that are none, nobody's, banned or deleted", () =>
        Effect.gen(function*() {
          const { messenger, phone, ref, userId, world } = yield* person()
          for (const none of ["+1", "+0123456789", `+${"1".repeat(16)}`]) {
            assert.strictEqual(yield* reasonOf(messenger.begin(ref, none)), "LoginRefused phone_invalid", none)
          }
          assert.strictEqual(
            yield* reasonOf(messenger.begin(ref, "+4915779999999")),
            "LoginRefused phone_not_registered"
          )
          yield* world.revokeService(userId, "banned")
          assert.strictEqual(yield* reasonOf(messenger.begin(ref, phone)), "LoginRefused phone_banned")
          const deleted = yield* person()
          yield* world.revokeService(deleted.userId, "deleted")
          assert.strictEqual(
            yield* reasonOf(messenger.begin(ref, deleted.phone)),
            "LoginRefused phone_not_registered"
          )
        }))

      it.effect("is over after five wrong codes, whatever comes then, and after five wrong passwords", () =>
        Effect.gen(function*() {
          const one = yield* person()
          const { state } = yield* one.messenger.begin(one.ref, one.phone)
          const enter = (code: Redacted.Redacted) => reasonOf(one.messenger.submitCode(state, code))
          for (let left = 4; left > 0; left--) assert.strictEqual(yield* enter(wrong), "LoginRefused code_invalid")
          const over = `LoginRefused ${able("attempts") ? "attempts_exhausted" : "code_expired"}`
          assert.strictEqual(yield* enter(wrong), over)
          assert.strictEqual(yield* enter((yield* one.code).code), over)
          const two = yield* person({ security: { two_fa_password: password } })
          const begun = yield* two.messenger.begin(two.ref, two.phone)
          const step = yield* two.messenger.submitCode(begun.state, (yield* two.code).code)
          if (step._tag !== "PasswordStep") return assert.fail("The password is not asked for.")
          const guess = (guessed: Redacted.Redacted) => reasonOf(two.messenger.submitPassword(step.state, guessed))
          for (let left = 4; left > 0; left--) assert.strictEqual(yield* guess(wrong), "PasswordInvalid")
          assert.strictEqual(yield* guess(wrong), over)
          assert.strictEqual(yield* guess(password), over)
        }))

      it.effect("takes no code that has run out, and none that was replaced", () =>
        Effect.gen(function*() {
          const { code, messenger, phone, ref } = yield* person()
          const begun = yield* messenger.begin(ref, phone)
          const first = (yield* code).code
          assert.strictEqual(yield* reasonOf(messenger.resend(begun.state)), "PlatformBusy")
          yield* harness.pass("60 seconds")
          const again = yield* messenger.resend(begun.state)
          assert.notStrictEqual(again.channel, begun.channel)
          const second = yield* code
          assert.strictEqual(second.channel, again.channel)
          if (Redacted.value(first) !== Redacted.value(second.code)) {
            assert.strictEqual(yield* reasonOf(messenger.submitCode(again.state, first)), "LoginRefused code_invalid")
          }
          yield* harness.pass(Duration.minutes(5))
          const late = messenger.submitCode(again.state, second.code)
          assert.strictEqual(yield* reasonOf(late), "LoginRefused code_expired")
          assert.strictEqual(yield* reasonOf(messenger.resend(again.state)), "LoginRefused code_expired")
        }))

      it.effect("notifies the service's other session of its codes and their results", () =>
        Effect.gen(function*() {
          const { code, messenger, phone, ref, userId, world } = yield* person()
          const live = yield* messenger.open(yield* world.connect(userId))
          const { state } = yield* messenger.begin(ref, phone)
          assert.strictEqual((yield* code).channel, "app")
          yield* messenger.submitCode(state, (yield* code).code)
          const listed = (yield* live.authorizations).find(({ current }) => !current)
          assert.isTrue(listed?.unconfirmed)
          yield* live.confirm(listed?.id ?? (yield* Effect.die(new Error("The new session is not listed."))))
        }))

      it.effect("that is cancelled leaves nothing behind, at whichever step, however often", () =>
        Effect.gen(function*() {
          for (const steps of [0, 1, 2]) {
            const { code, messenger, phone, ref, userId, world } = yield* person({
              security: { two_fa_password: password }
            })
            const watching = yield* messenger.open(yield* world.connect(userId))
            const { state } = yield* messenger.begin(ref, phone)
            const entered = (yield* code).code
            if (steps > 0) yield* messenger.submitCode(state, entered)
            if (steps > 1) yield* messenger.submitPassword(state, password)
            yield* messenger.cancel(state)
            yield* messenger.cancel(state)
            assert.isNull(yield* messenger.resolve(state))
            assert.strictEqual((yield* watching.authorizations).length, 1)
            assert.strictEqual(yield* reasonOf(messenger.submitCode(state, entered)), "LoginRefused code_expired")
            assert.include(yield* reasonOf(Effect.scoped(messenger.open(ref))), "NoSession")
          }
        }))

      if (able("answers")) {
        it.effect("whose answer was lost is found again by its state", () =>
          Effect.gen(function*() {
            const { code, messenger, phone, ref, userId, world } = yield* person()
            const { state } = yield* messenger.begin(ref, phone)
            const entered = (yield* code).code
            yield* world.script({ userId, operation: "submit_code", answer: { _tag: "Lost" } })
            assert.strictEqual(yield* reasonOf(messenger.submitCode(state, entered)), "PlatformUnavailable")
            assert.strictEqual((yield* messenger.resolve(state))?.userId, userId)
            yield* world.script({ userId, operation: "cancel", answer: { _tag: "Busy", seconds: 3 } })
            assert.strictEqual(yield* reasonOf(messenger.cancel(state)), "PlatformBusy")
            yield* messenger.cancel(state)
          }))
      }
    })

    describe("a paired session", () => {
      it.effect("is signed in by another one, begins at no age, and sees it in its turn", () =>
        Effect.gen(function*() {
          const { live, sessionRef, world } = yield* arrange()
          yield* harness.pass("30 hours")
          const messenger = yield* MessengerSession
          const ref = SessionRef.make(`paired-${sessionRef}`)
          const paired = yield* live.pair(ref, null)
          const other = yield* messenger.open(ref)
          assert.deepStrictEqual((yield* live.authorizations).map(({ id }) => id as string).sort(), [
            "0",
            paired.seenAs
          ])
          const seen = (yield* other.authorizations).find(({ current }) => !current)
          assert.strictEqual(seen?.id, yield* world.authorizationId(sessionRef))
          assert.strictEqual(yield* reasonOf(other.signOut(seen?.id ?? paired.seenAs)), "SignOutLocked")
        }))

      it.effect("needs the 2FA password where one is", () =>
        Effect.gen(function*() {
          const { live, sessionRef } = yield* arrange({ security: { two_fa_password: password } })
          const ref = SessionRef.make(`paired-${sessionRef}`)
          assert.strictEqual(yield* reasonOf(live.pair(ref, null)), "PasswordNeeded")
          assert.strictEqual(yield* reasonOf(live.pair(ref, wrong)), "PasswordInvalid")
          yield* live.pair(ref, password)
          assert.isTrue((yield* live.security(holdsNothing)).two_fa_present)
        }))
    })
  })
}
