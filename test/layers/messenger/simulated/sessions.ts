/** What every implementation of MessengerSession keeps of sessions, their events and passwords. */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import type { AuthorizationId, SessionEnd } from "../../../../src/domain/messenger/Messenger.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { eventContract, namesOf, take } from "./events.ts"
import { arranged, type Capability, listed, type MessengerHarness, tagOf } from "./harness.ts"
import { passwordContract } from "./passwords.ts"

const day = Duration.toMillis("24 hours")

export const sessionsContract = <R, E>(name: string, harness: MessengerHarness<R, E>): void => {
  const arrange = arranged(harness.world)
  const able = (capability: Capability) => harness.capabilities.has(capability)

  layer(harness.layer)(name, (it) => {
    eventContract(it, harness)
    passwordContract(it, harness)

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
        assert.deepStrictEqual(namesOf(yield* take(live, 3)), ["CodeSent", `NewAuthorization ${stranger}`, "CodeSent"])
      }))
  })
}
