/** What every implementation of MessengerSession keeps of addresses and passkeys. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import { maskEmail } from "../../../../src/domain/messenger/Messenger.ts"
import { arranged, holdsNothing, type MessengerHarness } from "./harness.ts"

const password = Redacted.make("horse staple")
const wrong = Redacted.make("000000x")

const newPasskey = () => {
  const { privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" })
  const key = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")
  return { id: crypto.randomBytes(32).toString("base64url"), key: Redacted.make(key) }
}

const failureOf = (call: Effect.Effect<unknown, { readonly _tag: string; readonly reason?: unknown }>) =>
  Effect.match(call, { onFailure: ({ _tag, reason }) => [_tag, reason], onSuccess: () => ["done"] })

export const securingContract = <R, E>(name: string, harness: MessengerHarness<R, E>): void => {
  const arrange = arranged(harness.world)

  layer(harness.layer)(name, (it) => {
    it.effect("a recovery address needs the password, waits for its code, and goes again", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange({ security: { two_fa_password: password } })
        const held = { ...holdsNothing, twoFaPasswords: [password] }
        const set = (current: Redacted.Redacted, email: string) => live.setRecoveryEmail({ current, email })
        assert.deepStrictEqual((yield* failureOf(set(wrong, "jane@example.org")))[0], "PasswordInvalid")
        assert.deepStrictEqual(yield* failureOf(set(password, "none")), ["EmailRefused", "invalid"])
        const { codeLength, pattern } = yield* set(password, "jane@example.org")
        assert.strictEqual(pattern, maskEmail("jane@example.org"))
        assert.deepInclude(yield* live.security(held), { has_recovery: false, recovery_pending_pattern: pattern })
        assert.deepStrictEqual(yield* failureOf(live.confirmRecoveryEmail(wrong)), ["EmailRefused", "code_invalid"])
        const code = (yield* world.emailCode(userId, "recovery")) ?? wrong
        assert.strictEqual(codeLength, Redacted.value(code).length)
        yield* live.confirmRecoveryEmail(code)
        assert.deepInclude(yield* live.security(held), {
          has_recovery: true,
          recovery_email_pattern: pattern,
          recovery_pending_pattern: null
        })
        yield* set(password, "ada@example.org")
        yield* live.cancelRecoveryEmail
        yield* live.cancelRecoveryEmail
        assert.deepInclude(yield* live.security(held), { has_recovery: true, recovery_pending_pattern: null })
        assert.deepStrictEqual((yield* failureOf(live.removeRecoveryEmail(wrong)))[0], "PasswordInvalid")
        yield* live.removeRecoveryEmail(password)
        assert.deepInclude(yield* live.security(held), { has_recovery: false, recovery_email_pattern: null })
      }))

    it.effect("a login address is replaced by the code that was sent to the new one, and never set where none is", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange({ security: { login_email: "old@example.org" } })
        const { pattern } = yield* live.startLoginEmail("new@example.com")
        assert.deepStrictEqual(yield* failureOf(live.confirmLoginEmail(wrong)), ["EmailRefused", "code_invalid"])
        yield* live.confirmLoginEmail((yield* world.emailCode(userId, "login")) ?? wrong)
        assert.deepInclude(yield* live.security(holdsNothing), { login_email_pattern: pattern })
        const other = yield* arrange()
        const start = other.live.startLoginEmail("new@example.com")
        assert.deepStrictEqual(yield* failureOf(start), ["EmailRefused", "not_set_up"])
      }))

    it.effect("a passkey is registered from the session's 24th hour on, and removed", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange()
        const passkey = newPasskey()
        assert.deepStrictEqual(yield* failureOf(live.addPasskey(passkey)), ["PasskeyRefused", "too_soon"])
        yield* harness.pass("24 hours")
        assert.deepStrictEqual(yield* live.addPasskey(passkey), { id: passkey.id })
        const held = { ...holdsNothing, passkeyIds: [passkey.id] }
        assert.deepInclude(yield* live.security(held), { passkey_ids: [passkey.id], passkey_managed: true })
        yield* live.removePasskey(passkey.id)
        yield* live.removePasskey(passkey.id)
        assert.deepInclude(yield* live.security(held), { passkey_ids: [], passkey_managed: false })
      }))
  })
}
