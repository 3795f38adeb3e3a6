import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import {
  type NewSimulatedAccount,
  type SecurityChange,
  SimulatedPlatform
} from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import { at, day, hour, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

const arrange = Effect.fnUntraced(function*(person: Partial<NewSimulatedAccount> = {}) {
  yield* TestClock.setTime(now.getTime())
  const platform = yield* SimulatedPlatform
  const { admins, id } = yield* World.makeOrganization()
  const live = yield* World.makeLiveAccount(id, person)
  const read = Effect.map(
    World.get(`/v1/accounts/${live.id}/messenger-profile`, admins.owner.key),
    ({ body, status }) => {
      assert.strictEqual(status, 200)
      return body
    }
  )
  /** Lets the service hold this password as the account's. */
  const hold = (password: string) => HeldSecrets.hold(id, live.id, { password })
  const secure = (change: SecurityChange) => platform.changeSecurity(live.userId, change)
  return { ...live, organizationId: id, admins, platform, read, hold, secure }
})

const secured = (password: string): SecurityChange => ({
  two_fa_password: Redacted.make(password),
  login_email: "jane.doe@login.example.com",
  recovery_email: "jane.doe@recovery.example.com",
  passkey_id: "passkey-1"
})

const unread = {
  login_email_pattern: null,
  recovery_email_pattern: null,
  two_fa_present: null,
  passkey_present: null
}

describe("2.6 messenger_profile", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.6-01, S2.6-02, S2.6-03, S2.6-04: shows all of a profile as the messenger has it", () =>
        Effect.gen(function*() {
          const { phone, read } = yield* arrange({
            first_name: "Jane",
            last_name: "Doe",
            username: "jane_doe_1",
            about: "Bio",
            photo_id: "5123456789012345678",
            premium: true,
            security: secured("hunter2")
          })
          assert.match(phone, /^[0-9]+$/)
          assert.deepStrictEqual(yield* read, {
            content_notice: contentNotice,
            object: "messenger_profile",
            first_name: "Jane",
            last_name: "Doe",
            username: "jane_doe_1",
            about: "Bio",
            phone,
            photo_id: "5123456789012345678",
            login_email_pattern: "j*****e@login.example.com",
            recovery_email_pattern: null,
            two_fa_present: true,
            two_fa_managed: false,
            passkey_present: true,
            passkey_managed: false,
            passkey_eligible_at: at(day).toISOString(),
            bio_limit: 140,
            paired_session: { state: "none", since: null, error: null }
          })
        }))

      it.effect("S2.6-02, S2.6-03, S2.6-05: what is empty on the messenger is null", () =>
        Effect.gen(function*() {
          const { phone, read } = yield* arrange({ first_name: "", last_name: "" })
          assert.deepStrictEqual(yield* read, {
            content_notice: contentNotice,
            object: "messenger_profile",
            first_name: null,
            last_name: null,
            username: null,
            about: null,
            phone,
            photo_id: null,
            login_email_pattern: null,
            recovery_email_pattern: null,
            two_fa_present: false,
            two_fa_managed: false,
            passkey_present: false,
            passkey_managed: false,
            passkey_eligible_at: at(day).toISOString(),
            bio_limit: 70,
            paired_session: { state: "none", since: null, error: null }
          })
        }))

      it.effect("S2.6-05: emails are masked, the recovery email where the service holds the password; none appears in full", () =>
        Effect.gen(function*() {
          const { hold, read } = yield* arrange({ security: secured("hunter2") })
          yield* hold("hunter2")
          const body = yield* read
          assert.strictEqual(body.login_email_pattern, "j*****e@login.example.com")
          assert.strictEqual(body.recovery_email_pattern, "j*****e@recovery.example.com")
          assert.notInclude(JSON.stringify(body), "jane.doe")
        }))

      it.effect("S2.6-07: two_fa_managed is true exactly when the password that the service holds is the account's", () =>
        Effect.gen(function*() {
          const { hold, read, secure } = yield* arrange()
          const managed = Effect.map(read, (body) => [body.two_fa_present, body.two_fa_managed])
          assert.deepStrictEqual(yield* managed, [false, false])
          yield* hold("the service's")
          assert.deepStrictEqual(yield* managed, [false, false])
          yield* secure({ two_fa_password: Redacted.make("the holder's") })
          assert.deepStrictEqual(yield* managed, [true, false])
          yield* secure({ two_fa_password: Redacted.make("the service's") })
          assert.deepStrictEqual(yield* managed, [true, true])
          yield* secure({ two_fa_password: null })
          assert.deepStrictEqual(yield* managed, [false, false])
        }))

      it.effect("S2.6-07: a password sealed for another account is not used", () =>
        Effect.gen(function*() {
          const { admins, id, organizationId, secure } = yield* arrange()
          yield* secure({ two_fa_password: Redacted.make("the service's") })
          const other = yield* World.makeAccount(organizationId)
          yield* HeldSecrets.hold(organizationId, other, { password: "the service's" })
          yield* HeldSecrets.move(organizationId, other, id)
          const { body, status } = yield* World.get(`/v1/accounts/${id}/messenger-profile`, admins.owner.key)
          assert.strictEqual(status, 500)
          assert.strictEqual(body.error.code, "internal_error")
          assert.notInclude(JSON.stringify(body), "the service's")
        }))

      it.effect("S2.6-06: two_fa_present is null when the security settings could not be read, and the profile is shown", () =>
        Effect.gen(function*() {
          const { platform, read, userId } = yield* arrange({ first_name: "Jane", security: secured("hunter2") })
          const answers = [
            { _tag: "SecurityUnreadable" },
            { _tag: "Unavailable" },
            { _tag: "Busy", seconds: 30 },
            { _tag: "Refused", reason: "SECURITY_HIDDEN" }
          ] as const
          for (const answer of answers) {
            yield* platform.script({ userId, operation: "security", answer })
            const body = yield* read
            assert.deepInclude(body, { ...unread, first_name: "Jane", two_fa_managed: false, passkey_managed: false })
          }
          assert.isTrue((yield* read).two_fa_present)
        }))

      it.effect("S2.6-06, S2.6-07, S2.6-08: what the service holds is answered even when the settings could not be read", () =>
        Effect.gen(function*() {
          const { hold, id, organizationId, platform, read, userId } = yield* arrange({ security: secured("hunter2") })
          yield* hold("hunter2")
          yield* HeldSecrets.hold(organizationId, id, { passkey: "passkey-1" })
          for (const answer of [{ _tag: "SecurityUnreadable" }, { _tag: "Unavailable" }] as const) {
            yield* platform.script({ userId, operation: "security", answer })
            assert.deepInclude(yield* read, { ...unread, two_fa_managed: true, passkey_managed: true })
          }
        }))

      it.effect("S2.6-08: passkey_managed is true when the passkey that the service holds is the account's", () =>
        Effect.gen(function*() {
          const { id, organizationId, read, secure } = yield* arrange()
          const passkey = Effect.map(read, (body) => [body.passkey_present, body.passkey_managed])
          assert.deepStrictEqual(yield* passkey, [false, false])
          yield* secure({ passkey_id: "passkey-1" })
          assert.deepStrictEqual(yield* passkey, [true, false])
          yield* HeldSecrets.hold(organizationId, id, { passkey: "passkey-2" })
          assert.deepStrictEqual(yield* passkey, [true, false])
          yield* HeldSecrets.hold(organizationId, id, { passkey: "passkey-1" })
          assert.deepStrictEqual(yield* passkey, [true, true])
        }))

      it.effect("S2.6-09: passkey_eligible_at is when a passkey can be added, and null from that moment on", () =>
        Effect.gen(function*() {
          const { read } = yield* arrange()
          const eligible = Effect.map(read, (body) => body.passkey_eligible_at)
          assert.strictEqual(yield* eligible, at(day).toISOString())
          yield* TestClock.setTime(now.getTime() + day - 1)
          assert.strictEqual(yield* eligible, at(day).toISOString())
          yield* TestClock.setTime(now.getTime() + day)
          assert.isNull(yield* eligible)
        }))

      it.effect("S2.6-10: bio_limit is 140 with the messenger's premium tier and 70 without, at each read", () =>
        Effect.gen(function*() {
          const { platform, read, userId } = yield* arrange()
          assert.strictEqual((yield* read).bio_limit, 70)
          yield* platform.setPremium(userId, true)
          assert.strictEqual((yield* read).bio_limit, 140)
          yield* platform.setPremium(userId, false)
          assert.strictEqual((yield* read).bio_limit, 70)
        }))

      it.effect("S2.6-11, S3.2-01: paired_session is none, active or lost, since when, and why lost", () =>
        Effect.gen(function*() {
          const { id, organizationId, read } = yield* arrange()
          const paired = (state: string, since: Date | null, error: string | null) =>
            World.set(organizationId, "account", id, { paired_state: state, paired_since: since, paired_error: error })
          yield* paired("active", at(-day), null)
          assert.deepStrictEqual((yield* read).paired_session, {
            state: "active",
            since: at(-day).toISOString(),
            error: null
          })
          yield* paired("lost", at(-hour), "signed_out")
          assert.deepStrictEqual((yield* read).paired_session, {
            state: "lost",
            since: at(-hour).toISOString(),
            error: "signed_out"
          })
          assert.strictEqual((yield* Effect.exit(paired("other", null, null)))._tag, "Failure")
        }))
    })
  })
})
