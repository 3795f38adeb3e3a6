/** What every implementation of MessengerSession keeps; a real adapter passes the same suite. */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, Redacted, type Scope } from "effect"
import { type Authorization, type MessengerUserId, SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import type { PlatformOperation } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { type MessengerFailure, MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { arranged, type Capability, holdsNothing, type MessengerHarness, type OutsideWorld, seenBy } from "./harness.ts"
import { profileContract } from "./profiles.ts"

export const messengerContract = <R, E>(name: string, harness: MessengerHarness<R, E>): void => {
  const arrange = arranged(harness.world)
  const able = (capability: Capability) => harness.capabilities.has(capability)

  layer(harness.layer)(name, (it) => {
    profileContract(it, harness)

    describe("security", () => {
      const password = Redacted.make("correct horse")
      const emails = { login_email: "jane@example.com", recovery_email: "jd@example.org" }

      it.effect("shows an account without any of it", () =>
        Effect.gen(function*() {
          const { live } = yield* arrange()
          assert.deepInclude(yield* live.security(holdsNothing), {
            login_email_pattern: null,
            recovery_email_pattern: null,
            two_fa_present: false,
            two_fa_managed: false,
            passkey_present: false,
            passkey_managed: false
          })
        }))

      it.effect("shows the recovery pattern only to the holder of the password, and emails never in full", () =>
        Effect.gen(function*() {
          const { live } = yield* arrange({ security: { two_fa_password: password, ...emails } })
          const stranger = yield* live.security(holdsNothing)
          assert.deepInclude(stranger, {
            login_email_pattern: "j*****e@example.com",
            recovery_email_pattern: null,
            two_fa_present: true,
            two_fa_managed: false
          })
          const holder = yield* live.security({ ...holdsNothing, twoFaPasswords: [password] })
          assert.deepInclude(holder, { recovery_email_pattern: "j*****@example.org", two_fa_managed: true })
          const wrong = yield* live.security({ ...holdsNothing, twoFaPasswords: [Redacted.make("Correct horse")] })
          assert.deepInclude(wrong, { recovery_email_pattern: null, two_fa_present: true, two_fa_managed: false })
        }))

      it.effect("is no longer managed when the holder changes or removes the password", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange({ security: { two_fa_password: password } })
          const held = { ...holdsNothing, twoFaPasswords: [password] }
          yield* world.changeSecurity(userId, { two_fa_password: Redacted.make("mine") })
          assert.deepInclude(yield* live.security(held), { two_fa_present: true, two_fa_managed: false })
          yield* world.changeSecurity(userId, { two_fa_password: null })
          assert.deepInclude(yield* live.security(held), { two_fa_present: false, two_fa_managed: false })
        }))

      it.effect("distinguishes the service's passkey from the holder's", () =>
        Effect.gen(function*() {
          const { live } = yield* arrange({ security: { passkey_id: "passkey-1" } })
          assert.deepInclude(yield* live.security(holdsNothing), { passkey_present: true, passkey_managed: false })
          assert.deepInclude(yield* live.security({ ...holdsNothing, passkeyIds: ["passkey-2"] }), {
            passkey_present: true,
            passkey_managed: false
          })
          assert.deepInclude(yield* live.security({ ...holdsNothing, passkeyIds: ["passkey-1"] }), {
            passkey_present: true,
            passkey_managed: true
          })
        }))

      it.effect("lets a session add a passkey from its 24th hour on", () =>
        Effect.gen(function*() {
          const { live } = yield* arrange()
          const connected = (yield* DateTime.nowAsDate).getTime()
          const eligible = new Date(connected + 86_400_000)
          assert.deepStrictEqual((yield* live.security(holdsNothing)).passkey_eligible_at, eligible)
          yield* harness.pass(Duration.millis(86_400_000 - 1))
          assert.deepStrictEqual((yield* live.security(holdsNothing)).passkey_eligible_at, eligible)
          yield* harness.pass(Duration.millis(1))
          assert.isNull((yield* live.security(holdsNothing)).passkey_eligible_at)
        }))

      if (able("unreadable security")) {
        it.effect(
          "shows null for what could not be read, and what the service holds as managed",
          () =>
            Effect.gen(function*() {
              const { live, userId, world } = yield* arrange({
                security: { two_fa_password: password, passkey_id: "passkey-1", ...emails }
              })
              yield* world.script({ userId, answer: { _tag: "SecurityUnreadable" }, times: 2 })
              const unreadable = {
                login_email_pattern: null,
                recovery_email_pattern: null,
                two_fa_present: null,
                passkey_present: null
              }
              assert.deepInclude(yield* live.security(holdsNothing), {
                ...unreadable,
                two_fa_managed: false,
                passkey_managed: false
              })
              assert.deepInclude(yield* live.security({ twoFaPasswords: [password], passkeyIds: ["passkey-1"] }), {
                ...unreadable,
                two_fa_managed: true,
                passkey_managed: true
              })
              assert.deepInclude(yield* live.security(holdsNothing), { two_fa_present: true, passkey_present: true })
            })
        )
      }
    })

    describe("authorizations", () => {
      it.effect("shows each device once, with what it says of itself", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const now = yield* DateTime.nowAsDate
          const odd = able("milliseconds") ? 123 : 0
          const created_at = new Date(now.getTime() - 7_200_000 - odd)
          const last_active_at = new Date(now.getTime() - 3_600_000 - odd)
          const id = yield* world.logIn(userId, {
            device_model: "Phone 9",
            platform: "Mobile OS",
            app_name: "Messenger",
            app_version: "11.2",
            ip: "192.0.2.7",
            country: "Germany",
            created_at,
            last_active_at
          })
          const bare = yield* world.logIn(userId, {})
          const all = yield* live.authorizations
          assert.strictEqual(all.length, 3)
          assert.deepStrictEqual(all.find((authorization) => authorization.id === id), {
            id,
            current: false,
            device_model: "Phone 9",
            platform: "Mobile OS",
            app_name: "Messenger",
            app_version: "11.2",
            ip: "192.0.2.7",
            country: "Germany",
            last_active_at,
            created_at,
            password_pending: false,
            unconfirmed: false
          })
          assert.deepInclude(all.find((authorization) => authorization.id === bare), {
            device_model: null,
            platform: null,
            app_name: null,
            app_version: null,
            ip: null,
            country: null
          })
          assert.strictEqual(new Set(all.map((authorization) => authorization.id)).size, 3)
        }))

      it.effect("marks as current the asking session alone, even beside a copy of its names", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const own = (yield* live.authorizations)[0]
          assert.isDefined(own)
          const copy = yield* world.logIn(userId, {
            device_model: own?.device_model ?? "",
            platform: own?.platform ?? "",
            app_name: own?.app_name ?? "",
            app_version: own?.app_version ?? "",
            created_at: own?.created_at ?? new Date(0)
          })
          const current = (yield* live.authorizations).filter((authorization) => authorization.current)
          assert.deepStrictEqual(current.map((authorization) => authorization.id), [own?.id])
          assert.notStrictEqual(copy, own?.id)
        }))

      it.effect("shows two sessions of the service each as current to itself", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const messenger = yield* MessengerSession
          const paired = yield* messenger.open(yield* world.connect(userId))
          const currentOf = (all: ReadonlyArray<{ readonly id: string; readonly current: boolean }>) =>
            all.filter((authorization) => authorization.current).map((authorization) => authorization.id)
          const [one, two] = [currentOf(yield* live.authorizations), currentOf(yield* paired.authorizations)]
          assert.deepStrictEqual([one, two], [["0"], ["0"]])
        }))

      it.effect("shows the service's session with its age", () =>
        Effect.gen(function*() {
          const { live } = yield* arrange()
          const connected = yield* DateTime.nowAsDate
          yield* harness.pass("1 hour")
          const [own] = yield* live.authorizations
          assert.deepStrictEqual(own?.created_at, connected)
        }))

      it.effect("no longer shows a device that signed out", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const id = yield* world.logIn(userId, { device_model: "Phone 9" })
          yield* world.logOut(userId, id)
          assert.isFalse((yield* live.authorizations).some((authorization) => authorization.id === id))
        }))

      it.effect("are the account's own", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const other = yield* arrange()
          yield* world.logIn(userId, {})
          assert.strictEqual((yield* live.authorizations).length, 2)
          assert.strictEqual((yield* other.live.authorizations).length, 1)
        }))
    })

    describe("failures", () => {
      const ids = (all: ReadonlyArray<Authorization>) => all.map(({ id }) => id)

      type Call = readonly [
        PlatformOperation,
        Effect.Effect<unknown, { readonly _tag: string; readonly retryAfterSeconds?: number; readonly reason?: string }>
      ]

      /** Every verb; the session that is opened is another one, because an open one is shared. */
      const everyCall = Effect.fnUntraced(function*(
        world: OutsideWorld,
        userId: MessengerUserId,
        sessionRef: SessionRef
      ): Effect.fn.Return<ReadonlyArray<Call>, MessengerFailure, MessengerSession | Scope.Scope> {
        const messenger = yield* MessengerSession
        const other = yield* world.connect(userId)
        const live = yield* messenger.open(sessionRef)
        const password = Redacted.make("a password of its own")
        return [
          ["open", Effect.scoped(messenger.open(other))],
          ["profile", live.profile],
          ["security", live.security(holdsNothing)],
          ["update_profile", live.updateProfile({ about: `About ${userId}` })],
          ["set_username", live.setUsername(`user_${userId}`)],
          ["authorizations", live.authorizations],
          ["confirm", live.confirm(yield* world.authorizationId(other))],
          ["check_password", live.checkPassword(password)],
          ["set_password", live.setPassword({ current: null, next: password })],
          ["remove_password", live.removePassword(password)],
          ["pair", live.pair(SessionRef.make(`paired-${sessionRef}`), null)],
          ["sign_out", live.signOut(yield* world.authorizationId(other))],
          ["log_out", live.logOut]
        ]
      })

      it.effect("a session that never was is no session", () =>
        Effect.gen(function*() {
          const messenger = yield* MessengerSession
          const failure = yield* Effect.flip(messenger.open(SessionRef.make("unknown")))
          assert.deepInclude(failure, { _tag: "NoSession", reason: "never" })
        }))

      it.effect("a revoked session is no session, whatever is asked of it, also when it is open", () =>
        Effect.gen(function*() {
          const { sessionRef, userId, world } = yield* arrange()
          const calls = yield* everyCall(world, userId, sessionRef)
          yield* world.revokeService(userId)
          for (const [operation, call] of calls) {
            assert.strictEqual((yield* Effect.flip(call))._tag, "NoSession", operation)
          }
          const again = yield* world.connect(userId)
          assert.isNull((yield* seenBy(again)).username)
        }))

      it.effect("a session that its holder ended is no session", () =>
        Effect.gen(function*() {
          const { live, sessionRef, userId, world } = yield* arrange()
          yield* world.logOut(userId, yield* world.authorizationId(sessionRef))
          assert.strictEqual((yield* Effect.flip(live.profile))._tag, "NoSession")
        }))

      if (able("answers")) {
        it.effect(
          "a flood wait, an outage and a refusal come back from every call, change nothing, and pass",
          () =>
            Effect.gen(function*() {
              const { live, sessionRef, userId, world } = yield* arrange()
              const calls = yield* everyCall(world, userId, sessionRef)
              // Over a wire nothing is asked about a password where there is none.
              const asked = calls.filter(([operation]) =>
                able("unreadable security") || operation !== "check_password" && operation !== "remove_password"
              )
              yield* harness.pass("24 hours")
              const look = Effect.all([live.profile, live.security(holdsNothing), Effect.map(live.authorizations, ids)])
              const before = yield* look
              for (const [operation, call] of asked) {
                yield* world.script({ userId, operation, answer: { _tag: "Busy", seconds: 42 } })
                yield* world.script({ userId, operation, answer: { _tag: "Unavailable" } })
                yield* world.script({ userId, operation, answer: { _tag: "Refused", reason: "FROZEN_METHOD_INVALID" } })
                assert.deepInclude(yield* Effect.flip(call), { _tag: "PlatformBusy", retryAfterSeconds: 42 }, operation)
                assert.strictEqual((yield* Effect.flip(call))._tag, "PlatformUnavailable", operation)
                // Where the settings are read part by part, the part that is refused stays unread.
                if (operation === "security" && !able("unreadable security")) yield* call
                else {
                  const refused = yield* Effect.flip(call)
                  assert.deepInclude(refused, { _tag: "PlatformRefused", reason: "FROZEN_METHOD_INVALID" }, operation)
                }
                assert.deepStrictEqual(yield* look, before, operation)
              }
              for (const [operation, call] of calls) assert.isTrue(Exit.isSuccess(yield* Effect.exit(call)), operation)
              assert.strictEqual((yield* Effect.flip(live.profile))._tag, "NoSession")
            })
        )
      }

      if (able("answers")) {
        it.effect(
          "a lost answer is an outage to the caller, and the change is made",
          () =>
            Effect.gen(function*() {
              const { live, sessionRef, userId, world } = yield* arrange()
              yield* world.script({ userId, answer: { _tag: "Lost" }, times: 2 })
              assert.strictEqual(
                (yield* Effect.flip(live.updateProfile({ about: "Done" })))._tag,
                "PlatformUnavailable"
              )
              assert.strictEqual((yield* Effect.flip(live.setUsername(`lost_${userId}`)))._tag, "PlatformUnavailable")
              assert.deepInclude(yield* seenBy(sessionRef), { about: "Done", username: `lost_${userId}` })
              assert.strictEqual((yield* live.updateProfile({ about: "Done" })).about, "Done")
            })
        )
      }
    })
  })
}
