/** What every implementation of MessengerSession keeps of sessions, passwords and events. */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Redacted, Stream } from "effect"
import type { AuthorizationId, MessengerEvent, SessionEnd } from "../../../src/domain/Messenger.ts"
import { eventsKept } from "../../../src/layers/messenger/LiveSessions.ts"
import { type LiveSession, MessengerSession } from "../../../src/ports/MessengerSession.ts"
import { arranged, type Capability, holdsNothing, type MessengerHarness } from "./harness.ts"

const day = Duration.toMillis("24 hours")

const tagOf = (call: Effect.Effect<unknown, { readonly _tag: string }>) =>
  Effect.match(call, { onFailure: ({ _tag }) => _tag, onSuccess: () => "done" })

const listed = (live: LiveSession) =>
  Effect.map(
    live.authorizations,
    (all) => new Map(all.map((authorization) => [authorization.id as string, authorization]))
  )

export const sessionsContract = <R, E>(name: string, harness: MessengerHarness<R, E>): void => {
  const arrange = arranged(harness.world)
  const able = (capability: Capability) => harness.capabilities.has(capability)

  /** Takes that many events of those that have come and will come. */
  const take = (live: LiveSession, count: number) => Stream.runCollect(Stream.take(live.events, count))

  const told = (events: ReadonlyArray<MessengerEvent>) =>
    events.map((event) => "id" in event ? `${event._tag} ${event.id}` : event._tag)

  layer(harness.layer)(name, (it) => {
    describe("signing out", () => {
      it.effect("is locked until the asking session is 24 hours old, to the millisecond", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const until = new Date((yield* DateTime.nowAsDate).getTime() + day)
          const stranger = yield* world.logIn(userId, {})
          yield* harness.pass(day - 1)
          assert.deepInclude(yield* Effect.flip(live.signOut(stranger)), { _tag: "SignOutLocked", until })
          assert.isTrue((yield* listed(live)).has(stranger))
          yield* harness.pass(1)
          yield* live.signOut(stranger)
          assert.isFalse((yield* listed(live)).has(stranger))
        }))

      it.effect("binds strangers by the same age, and ending oneself is always possible", () =>
        Effect.gen(function*() {
          const { live, sessionRef, userId, world } = yield* arrange()
          const ours = yield* world.authorizationId(sessionRef)
          const stranger = yield* world.logIn(userId, {})
          yield* harness.pass(day - 1)
          assert.strictEqual(yield* tagOf(world.signOut(userId, stranger, ours)), "SignOutLocked")
          yield* live.profile
          yield* live.logOut
          assert.deepInclude(yield* Effect.flip(live.profile), { _tag: "NoSession", reason: "logged_out" })
          yield* world.signOut(userId, stranger, stranger)
        }))

      it.effect("knows the asking session as 0 at any age", () =>
        Effect.gen(function*() {
          const { live } = yield* arrange()
          const [own] = yield* live.authorizations
          if (own !== undefined) yield* live.signOut(own.id)
          assert.deepInclude(yield* Effect.flip(live.profile), { _tag: "NoSession", reason: "logged_out" })
        }))

      it.effect("ends that one alone, once, and refuses an id that is not listed to it", () =>
        Effect.gen(function*() {
          const { live, sessionRef, userId, world } = yield* arrange()
          const other = yield* arrange()
          const ours = yield* world.authorizationId(sessionRef)
          const [one, two] = [yield* world.logIn(userId, {}), yield* world.logIn(userId, {})]
          const foreign = yield* world.logIn(other.userId, {})
          yield* harness.pass(day)
          yield* live.signOut(one)
          assert.deepStrictEqual(new Set((yield* listed(live)).keys()), new Set(["0", two]))
          for (const id of [one, foreign, ours]) {
            assert.strictEqual(yield* tagOf(live.signOut(id)), "UnknownAuthorization")
            assert.strictEqual(yield* tagOf(live.confirm(id)), "UnknownAuthorization")
          }
          assert.isTrue((yield* listed(other.live)).has(foreign))
          assert.isTrue([one, two, foreign, ours].every((id) => BigInt(id) > 2n ** 53n && String(BigInt(id)) === id))
        }))

      it.effect("of the service's other session revokes it", () =>
        Effect.gen(function*() {
          const { live, sessionRef, userId, world } = yield* arrange()
          const messenger = yield* MessengerSession
          const pairedRef = yield* world.connect(userId)
          const paired = yield* messenger.open(pairedRef)
          const pairedId = yield* world.authorizationId(pairedRef)
          assert.isTrue((yield* listed(paired)).has(yield* world.authorizationId(sessionRef)))
          yield* harness.pass(day)
          yield* live.signOut(pairedId)
          assert.deepInclude(yield* Effect.flip(paired.profile), { _tag: "NoSession", reason: "revoked" })
          assert.deepInclude(yield* Effect.flip(Effect.scoped(messenger.open(pairedRef))), { reason: "revoked" })
          yield* live.profile
        }))

      for (
        const reason of ["revoked", "logged_out", "deleted", "banned", "key_duplicated"] satisfies Array<SessionEnd>
      ) {
        it.effect(`an ended session says ${reason} to every call and every opening`, () =>
          Effect.gen(function*() {
            const { live, sessionRef, userId, world } = yield* arrange()
            const messenger = yield* MessengerSession
            yield* world.revokeService(userId, reason)
            const said = reason === "logged_out" && !able("endings") ? "revoked" : reason
            assert.deepInclude(yield* Effect.flip(live.authorizations), { _tag: "NoSession", reason: said })
            assert.deepInclude(yield* Effect.flip(Effect.scoped(messenger.open(sessionRef))), { reason: said })
          }))
      }
    })

    describe("a sign-in", () => {
      it.effect("that waits for the 2FA password is listed as no session yet, under the id that it keeps", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const id = yield* world.beginLogIn(userId, {})
          assert.deepInclude((yield* listed(live)).get(id), { password_pending: true, current: false })
          yield* world.finishLogIn(userId, id)
          assert.deepInclude((yield* listed(live)).get(id), { password_pending: false, unconfirmed: true })
        }))

      it.effect("is confirmed by the service or by the holder", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const [one, two] = [yield* world.logIn(userId, {}), yield* world.logIn(userId, {})]
          assert.isTrue([one, two].every((id) => id !== "0"))
          yield* live.confirm(one)
          yield* live.confirm(one)
          yield* world.confirm(userId, two)
          const all = yield* listed(live)
          assert.deepStrictEqual([all.get(one)?.unconfirmed, all.get(two)?.unconfirmed], [false, false])
        }))

      if (able("any text")) {
        it.effect(
          "shows texts that a database takes, whatever the device calls itself",
          () =>
            Effect.gen(function*() {
              const { live, userId, world } = yield* arrange()
              const hostile = [
                "a\u0000b\ud800c\ndef",
                "\u0000\udfff",
                "\u0001\u009f",
                "😀".repeat(300),
                "x".repeat(5_000_000)
              ]
              const [device_model, platform, app_name, app_version, country] = hostile
              const id = yield* world.logIn(userId, {
                device_model: device_model ?? "",
                platform: platform ?? "",
                app_name: app_name ?? "",
                app_version: app_version ?? "",
                country: country ?? ""
              })
              assert.deepInclude((yield* listed(live)).get(id), {
                device_model: "abc def",
                platform: null,
                app_name: "  ",
                app_version: "😀".repeat(256),
                country: "x".repeat(256)
              })
              yield* world.changeProfile(userId, { first_name: "A\u0000d\ud800a\u0007", about: "two\nlines\u0000" })
              assert.deepInclude(yield* live.profile, { first_name: "Ada ", about: "two\nlines" })
            })
        )
      }
    })

    describe("events", () => {
      it.effect("come in the order of what happened, to every session of the service", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const messenger = yield* MessengerSession
          const paired = yield* messenger.open(yield* world.connect(userId))
          const waiting = yield* world.beginLogIn(userId, {})
          yield* world.finishLogIn(userId, waiting)
          yield* world.changeProfile(userId, { about: "New" })
          yield* world.confirm(userId, waiting)
          const stranger = yield* world.logIn(userId, {})
          yield* world.logOut(userId, stranger)
          yield* world.sendCode(userId)
          const expected = [
            "CodeSent",
            `NewAuthorization ${waiting}`,
            "ProfileChanged",
            `AuthorizationResolved ${waiting}`,
            "CodeSent",
            `NewAuthorization ${stranger}`,
            `AuthorizationResolved ${stranger}`,
            "CodeSent"
          ]
          for (const session of [live, paired]) {
            assert.deepStrictEqual(told(yield* take(session, expected.length)), expected)
          }
        }))

      it.effect("tell a session what the other one did, and not what it did itself", () =>
        Effect.gen(function*() {
          const { live, userId, world } = yield* arrange()
          const messenger = yield* MessengerSession
          const paired = yield* messenger.open(yield* world.connect(userId))
          const stranger = yield* world.logIn(userId, {})
          yield* take(live, 2)
          yield* take(paired, 2)
          yield* live.updateProfile({ about: "Ours" })
          yield* live.confirm(stranger)
          yield* world.sendCode(userId)
          assert.deepStrictEqual(told(yield* take(live, 1)), ["CodeSent"])
          assert.deepStrictEqual(told(yield* take(paired, 3)), [
            "ProfileChanged",
            `AuthorizationResolved ${stranger}`,
            "CodeSent"
          ])
        }))

      if (able("told at once")) {
        it.effect("are the account's own, and begin when the session is opened", () =>
          Effect.gen(function*() {
            const { live, sessionRef, userId, world } = yield* arrange()
            const other = yield* arrange()
            yield* other.world.sendCode(other.userId)
            yield* world.changeProfile(userId, { about: "Before" })
            const messenger = yield* MessengerSession
            const later = yield* messenger.open(sessionRef)
            yield* world.sendCode(userId)
            assert.deepStrictEqual(told(yield* take(live, 2)), ["ProfileChanged", "CodeSent"])
            assert.deepStrictEqual(told(yield* take(later, 1)), ["CodeSent"])
          }))
      }

      if (able("told at once")) {
        it.effect("keep the latest 256 that nobody read, after a gap where there were more", () =>
          Effect.gen(function*() {
            const { live, userId, world } = yield* arrange()
            const full = yield* arrange()
            for (let count = 0; count < eventsKept; count++) yield* full.world.sendCode(full.userId)
            assert.isFalse(told(yield* take(full.live, eventsKept)).includes("Gap"))
            yield* world.changeProfile(userId, { about: "Dropped" })
            for (let count = 0; count < eventsKept; count++) yield* world.sendCode(userId)
            const events = told(yield* take(live, eventsKept + 1))
            assert.deepStrictEqual(events, ["Gap", ...Array.from({ length: eventsKept }, () => "CodeSent")])
            yield* world.changeProfile(userId, { about: "After" })
            assert.deepStrictEqual(told(yield* take(live, 1)), ["ProfileChanged"])
          }))
      }

      if (able("told at once")) {
        it.effect("reach who waits for them, and end with the session", () =>
          Effect.gen(function*() {
            const { live, userId, world } = yield* arrange()
            const reading = yield* Effect.forkChild(Stream.runCollect(live.events))
            yield* Effect.yieldNow
            yield* world.sendCode(userId)
            yield* world.revokeService(userId, "banned")
            assert.deepStrictEqual(yield* Fiber.join(reading), [{ _tag: "CodeSent" }, {
              _tag: "Lost",
              reason: "banned"
            }])
          }))
      }

      if (able("lost events")) {
        it.effect("may be lost, which the list does not show", () =>
          Effect.gen(function*() {
            const { live, userId, world } = yield* arrange()
            yield* world.dropEvents(userId, 2)
            const stranger = yield* world.logIn(userId, {})
            yield* world.changeProfile(userId, { about: "Told" })
            assert.deepStrictEqual(told(yield* take(live, 1)), ["ProfileChanged"])
            assert.isTrue((yield* listed(live)).has(stranger))
          }))
      }
    })

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

    it.effect("passkeys are told by their ids", () =>
      Effect.gen(function*() {
        const { live, userId, world } = yield* arrange()
        yield* world.changeSecurity(userId, { passkey_ids: ["one", "two"] })
        assert.deepInclude(yield* live.security({ ...holdsNothing, passkeyIds: ["three", "two"] }), {
          passkey_ids: ["one", "two"],
          passkey_managed: true
        })
      }))

    it.effect("a session that is opened twice is one, and lasts until the last one closes it", () =>
      Effect.gen(function*() {
        const { live, sessionRef, userId, world } = yield* arrange()
        const messenger = yield* MessengerSession
        const stranger: AuthorizationId = yield* world.logIn(userId, {})
        yield* Effect.scoped(
          Effect.gen(function*() {
            const both = yield* Effect.all([messenger.open(sessionRef), messenger.open(sessionRef)], {
              concurrency: "unbounded"
            })
            for (const session of both) assert.isTrue((yield* listed(session)).has(stranger))
          })
        )
        assert.isTrue((yield* listed(live)).has(stranger))
        yield* world.sendCode(userId)
        assert.deepStrictEqual(told(yield* take(live, 3)), ["CodeSent", `NewAuthorization ${stranger}`, "CodeSent"])
      }))
  })
}
