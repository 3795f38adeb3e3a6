/** What every implementation of MessengerSession keeps of the 2FA password, and of passkeys by their ids. */
import { assert, describe, type Vitest } from "@effect/vitest"
import { DateTime, Duration, Effect, Redacted } from "effect"
import type { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { arranged, holdsNothing, type MessengerHarness, tagOf } from "./harness.ts"

const day = Duration.toMillis("24 hours")

export const passwordContract = <R, E>(
  it: Vitest.MethodsNonLive<MessengerSession | R>,
  harness: MessengerHarness<R, E>
): void => {
  const arrange = arranged(harness.world)

  describe("the 2FA password", () => {
    const [first, second, third] = ["first", "second", "third"].map((text) => Redacted.make(text)) as [
      Redacted.Redacted,
      Redacted.Redacted,
      Redacted.Redacted
    ]
    const held = { ...holdsNothing, twoFaPasswords: [first, second, third] }

    it.effect("is set, replaced and removed by who knows it", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange()
        assert.isFalse(yield* live.checkPassword(first))
        yield* live.setPassword({ current: null, next: first })
        for (const current of [null, second]) {
          assert.strictEqual(yield* tagOf(live.setPassword({ current, next: third })), "PasswordInvalid")
        }
        assert.strictEqual(yield* tagOf(live.removePassword(second)), "PasswordInvalid")
        assert.isTrue(yield* live.checkPassword(first))
        yield* live.setPassword({ current: first, next: second })
        assert.deepStrictEqual([yield* live.checkPassword(first), yield* live.checkPassword(second)], [false, true])
        yield* live.removePassword(second)
        yield* live.removePassword(second)
        assert.deepInclude(yield* live.security(held), { two_fa_present: false, two_fa_mark: null })
      }))

    it.effect("is found among the candidates, whichever it is", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange()
        for (const [place, password] of [first, second, third].entries()) {
          yield* world.changeSecurity(userId, { two_fa_password: password })
          assert.deepInclude(yield* live.security(held), { two_fa_held: place, two_fa_managed: true })
        }
        yield* world.changeSecurity(userId, { two_fa_password: Redacted.make("theirs") })
        assert.deepInclude(yield* live.security(held), { two_fa_held: null, two_fa_managed: false })
      }))

    it.effect("has a new mark with each change, also to the same password, and none in between", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange()
        const mark = Effect.map(live.security(holdsNothing), (security) => security.two_fa_mark)
        const marks = [yield* mark]
        yield* world.changeSecurity(userId, { two_fa_password: first })
        marks.push(yield* mark)
        yield* live.setPassword({ current: first, next: first })
        marks.push(yield* mark)
        yield* world.changeSecurity(userId, { two_fa_password: null })
        yield* world.changeSecurity(userId, { two_fa_password: first })
        marks.push(yield* mark)
        assert.strictEqual(new Set(marks).size, marks.length)
        yield* world.changeSecurity(userId, { login_email: "jane@example.com" })
        yield* live.checkPassword(second)
        assert.strictEqual(yield* mark, marks.at(-1))
      }))

    it.effect("takes the recovery email with it, and a pending one shows its pattern to everybody", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange({ security: { two_fa_password: first } })
        yield* world.changeSecurity(userId, { recovery_pending: "jane@example.com" })
        assert.deepInclude(yield* live.security(holdsNothing), {
          has_recovery: false,
          recovery_email_pattern: null,
          recovery_pending_pattern: "j*****e@example.com"
        })
        yield* world.changeSecurity(userId, { recovery_pending: null, recovery_email: "jane@example.com" })
        assert.deepInclude(yield* live.security(holdsNothing), {
          has_recovery: true,
          recovery_email_pattern: null,
          recovery_pending_pattern: null
        })
        assert.deepInclude(yield* live.security(held), { recovery_email_pattern: "j*****e@example.com" })
        yield* live.removePassword(first)
        yield* live.setPassword({ current: null, next: first })
        assert.deepInclude(yield* live.security(held), { has_recovery: false, recovery_email_pattern: null })
      }))

    it.effect("is removed seven days after somebody asked for its reset, unless that is taken back", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange({ security: { two_fa_password: first } })
        const kept = yield* arrange({ security: { two_fa_password: first } })
        const reset_at = new Date((yield* DateTime.nowAsDate).getTime() + 7 * day)
        yield* world.askForReset(userId, true)
        yield* kept.world.askForReset(kept.userId, true)
        yield* kept.world.askForReset(kept.userId, false)
        yield* harness.pass(7 * day - 1)
        assert.deepInclude(yield* live.security(held), { two_fa_present: true, reset_at })
        yield* harness.pass(1)
        assert.deepInclude(yield* live.security(held), { two_fa_present: false, reset_at: null })
        assert.isFalse(yield* live.checkPassword(first))
        assert.deepInclude(yield* kept.live.security(held), { two_fa_present: true, reset_at: null })
      }))
  })

  it.effect("passkeys are recognised by their ids", () =>
    Effect.gen(function*() {
      const { live, userId, world } = yield* arrange()
      yield* world.changeSecurity(userId, { passkey_ids: ["one", "two"] })
      assert.deepInclude(yield* live.security({ ...holdsNothing, passkeyIds: ["three", "two"] }), {
        passkey_ids: ["one", "two"],
        passkey_managed: true
      })
    }))
}
