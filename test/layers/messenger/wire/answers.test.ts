import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import type { CodeChannel } from "../../../../src/ports/messenger/MessengerLogin.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { type Fault, Refusal } from "../../../support/dataCentre/Faults.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import type { Word } from "../../../support/dataCentre/Words.ts"

const password = Redacted.make("horse staple")
const nothing = { twoFaPasswords: [], passkeyIds: [] }

let people = 0

/** A login is begun, whose request for a code is answered so. */
const begun = Effect.fnUntraced(function*(does: Fault["does"]) {
  const { centre, world } = yield* DataCentre.Loopback
  const phone = `49155514${10_000 + people++}`
  yield* world.createAccount({ phone, first_name: "Ada" })
  centre.faults.push({ which: (_, { phoneNumber }) => phoneNumber === `+${phone}`, does, times: 1 })
  const messenger = yield* MessengerSession
  return yield* messenger.begin(SessionRef.make(`answered-${phone}`), `+${phone}`)
})

/** A session whose next requests of a name are answered so. */
const opened = Effect.gen(function*() {
  const { centre, world } = yield* DataCentre.Loopback
  const phone = `49155514${10_000 + people++}`
  const userId = yield* world.createAccount({ phone, first_name: "Ada", security: { two_fa_password: password } })
  const ref = yield* world.connect(userId)
  const live = yield* (yield* MessengerSession).open(ref)
  const refuses = (request: string, code: number, text: string, times = 1) =>
    Effect.sync(() => {
      centre.faults.push({ request, which: ({ of }) => of["ref"] === ref, does: new Refusal(code, text), times })
    })
  return { live, refuses }
})

const sent = (type: Word): Fault["does"] => ({ answers: { _: "auth.sentCode", type, phoneCodeHash: "hash" } })

/** How a code is sent, and what is known of it. */
const deliveries: ReadonlyArray<readonly [Word, CodeChannel, number | null]> = [
  [{ _: "auth.sentCodeTypeApp", length: 5 }, "app", 5],
  [{ _: "auth.sentCodeTypeSms", length: 6 }, "sms", 6],
  [{ _: "auth.sentCodeTypeSmsWord" }, "sms", null],
  [{ _: "auth.sentCodeTypeSmsPhrase", beginning: "red" }, "sms", null],
  [{ _: "auth.sentCodeTypeFirebaseSms", length: 6 }, "sms", 6],
  [{ _: "auth.sentCodeTypeCall", length: 5 }, "call", 5],
  [{ _: "auth.sentCodeTypeMissedCall", prefix: "49", length: 4 }, "call", 4],
  [{ _: "auth.sentCodeTypeFlashCall", pattern: "*" }, "call", null],
  [{ _: "auth.sentCodeTypeEmailCode", emailPattern: "a***@b.example", length: 6 }, "email", 6],
  [{ _: "auth.sentCodeTypeFragmentSms", url: "", length: 5 }, "other", 5]
]

/** What else a login is told, and what that means. */
const refusals: ReadonlyArray<readonly [string, Fault["does"], object]> = [
  ["an application that is too old", new Refusal(406, "UPDATE_APP_TO_LOGIN"), {
    _tag: "LoginRefused",
    reason: "app_update_required"
  }],
  ["an account without a login address", sent({ _: "auth.sentCodeTypeSetUpEmailRequired" }), {
    _tag: "LoginRefused",
    reason: "email_setup_required"
  }],
  ["a number that many logins were begun for", new Refusal(406, "PHONE_NUMBER_FLOOD"), {
    _tag: "PlatformBusy",
    retryAfterSeconds: 3600
  }],
  ["a number that may log in later", new Refusal(420, "FLOOD_WAIT_86400"), {
    _tag: "PlatformBusy",
    retryAfterSeconds: 86_400
  }]
]

layer(DataCentre.layer)("over the wire", (it) => {
  describe("a code", () => {
    it.effect("is sent in every way that there is", () =>
      Effect.forEach(
        deliveries,
        ([type, channel, codeLength]) =>
          Effect.map(begun(sent(type)), (answer) => assert.deepInclude(answer, { channel, codeLength }, type._)),
        {
          concurrency: "unbounded"
        }
      ))

    it.effect("is not sent to everybody", () =>
      Effect.forEach(
        refusals,
        ([what, does, failure]) =>
          Effect.map(Effect.flip(begun(does)), (failed) => assert.deepInclude(failed, failure, what)),
        {
          concurrency: "unbounded"
        }
      ))
  })

  it.effect("a part of the security that is refused is unknown, and the others are read; a wait is one for all of it", () =>
    Effect.gen(function*() {
      const { live, refuses } = yield* opened
      yield* refuses("account.getPasskeys", 400, "SOMETHING_ELSE")
      assert.deepInclude(yield* live.security(nothing), { two_fa_present: true, passkey_ids: null })
      yield* refuses("account.getPassword", 400, "SOMETHING_ELSE")
      assert.deepInclude(yield* live.security(nothing), { two_fa_present: null, passkey_ids: [] })
      yield* refuses("account.getPasskeys", 420, "FLOOD_WAIT_9")
      const failed = yield* Effect.flip(live.security(nothing))
      assert.deepInclude(failed, { _tag: "PlatformBusy", retryAfterSeconds: 9 })
    }))

  it.effect("a proof of the password is made again where its parameters serve no longer, once", () =>
    Effect.gen(function*() {
      const { live, refuses } = yield* opened
      for (const text of ["SRP_ID_INVALID", "SRP_PASSWORD_CHANGED"]) {
        yield* refuses("account.getPasswordSettings", 400, text)
        assert.isTrue(yield* live.checkPassword(password))
      }
      yield* refuses("account.getPasswordSettings", 400, "SRP_ID_INVALID", 2)
      assert.strictEqual((yield* Effect.flip(live.checkPassword(password)))._tag, "PlatformUnavailable")
    }))

  it.effect("a refusal that says how a code was sent to a recovery address is a success", () =>
    Effect.gen(function*() {
      const { live, refuses } = yield* opened
      const set = live.setRecoveryEmail({ current: password, email: "jane@example.org" })
      for (const [text, codeLength] of [["EMAIL_UNCONFIRMED", null], ["EMAIL_UNCONFIRMED_8", 8]] as const) {
        yield* refuses("account.updatePasswordSettings", 400, text)
        assert.deepInclude(yield* set, { codeLength })
      }
    }))
})
