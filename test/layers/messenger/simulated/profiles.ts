/** What every implementation of MessengerSession keeps of profiles and usernames. */
import { assert, describe, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { Profile } from "../../../../src/domain/messenger/Messenger.ts"
import type { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { arranged, type MessengerHarness, seenBy } from "./harness.ts"

export const profileContract = <R, E>(
  it: Vitest.MethodsNonLive<MessengerSession | R>,
  harness: MessengerHarness<R, E>
): void => {
  const arrange = arranged(harness.world)

  describe("profile", () => {
    it.effect("shows every field as the platform has it", () =>
      Effect.gen(function*() {
        const { live, userId } = yield* arrange({
          phone: "491555099901",
          first_name: "Jane",
          last_name: "Doe",
          username: "Jane_Doe_1",
          about: "Hello",
          photo_id: "5312345678901234567",
          premium: true
        })
        const expected: Profile = {
          user_id: userId,
          first_name: "Jane",
          last_name: "Doe",
          username: "Jane_Doe_1",
          about: "Hello",
          phone: "491555099901",
          photo_id: "5312345678901234567",
          premium: true
        }
        assert.deepStrictEqual(yield* live.profile, expected)
      }))

    it.effect("shows what is not there, and an empty text, as null", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange({ last_name: "", about: "" })
        const profile = yield* live.profile
        assert.isNull(profile.last_name)
        assert.isNull(profile.about)
        assert.isNull(profile.username)
        assert.isNull(profile.photo_id)
        assert.isFalse(profile.premium)
      }))

    it.effect("shows a change made in the messenger at the next read", () =>
      Effect.gen(function*() {
        const { live, number, userId, world } = yield* arrange()
        yield* live.profile
        yield* world.changeProfile(userId, {
          first_name: "Joan",
          about: "New",
          username: `outside_${number}`,
          phone: `4915559${number}`,
          photo_id: "17"
        })
        yield* world.setPremium(userId, true)
        const profile = yield* live.profile
        assert.deepInclude(profile, {
          first_name: "Joan",
          about: "New",
          username: `outside_${number}`,
          phone: `4915559${number}`,
          photo_id: "17",
          premium: true
        })
      }))

    it.effect("changes the fields that the patch names and answers the new profile", () =>
      Effect.gen(function*() {
        const { live, sessionRef } = yield* arrange({ last_name: "Doe", about: "Before" })
        const answered = yield* live.updateProfile({ first_name: "Joan", about: "After" })
        assert.deepInclude(answered, { first_name: "Joan", last_name: "Doe", about: "After" })
        assert.deepStrictEqual(yield* seenBy(sessionRef), answered)
      }))

    it.effect("clears the last name and the bio with an empty text", () =>
      Effect.gen(function*() {
        const { live, sessionRef } = yield* arrange({ last_name: "Doe", about: "Before" })
        const answered = yield* live.updateProfile({ last_name: "", about: "" })
        assert.deepInclude(answered, { first_name: "Jane", last_name: null, about: null })
        assert.deepStrictEqual(yield* seenBy(sessionRef), answered)
      }))

    it.effect("stays as it is with an empty patch", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange({ last_name: "Doe", about: "Before" })
        const before = yield* live.profile
        assert.deepStrictEqual(yield* live.updateProfile({}), before)
        assert.deepStrictEqual(yield* live.profile, before)
      }))

    it.effect("takes 64 characters in a name, however they are encoded, and refuses the 65th", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange()
        const accepted = yield* live.updateProfile({ first_name: "😀".repeat(64), last_name: "é".repeat(64) })
        assert.strictEqual(accepted.first_name, "😀".repeat(64))
        for (const field of ["first_name", "last_name"] as const) {
          const refused = yield* Effect.flip(live.updateProfile({ [field]: "a".repeat(65) }))
          assert.deepInclude(refused, { _tag: "ProfileRefused", reason: "name_invalid", field })
        }
        assert.deepStrictEqual(yield* live.profile, accepted)
      }))

    it.effect("refuses an account without a first name", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange()
        for (const first_name of ["", "  "]) {
          const refused = yield* Effect.flip(live.updateProfile({ first_name, last_name: "Doe" }))
          assert.deepInclude(refused, { _tag: "ProfileRefused", reason: "name_invalid", field: "first_name" })
        }
        assert.deepInclude(yield* live.profile, { first_name: "Jane", last_name: null })
      }))

    it.effect("of an account without a name takes a bio", () =>
      Effect.gen(function*() {
        const { live } = yield* arrange({ first_name: "" })
        assert.isNull((yield* live.profile).first_name)
        assert.deepInclude(yield* live.updateProfile({ about: "Hello" }), { first_name: null, about: "Hello" })
      }))

    for (const { limit, premium } of [{ premium: false, limit: 70 }, { premium: true, limit: 140 }]) {
      it.effect(`takes a bio of ${limit} characters ${premium ? "with" : "without"} premium and no longer one`, () =>
        Effect.gen(function*() {
          const { live } = yield* arrange({ premium })
          const accepted = yield* live.updateProfile({ about: "😀".repeat(limit) })
          assert.strictEqual(accepted.about, "😀".repeat(limit))
          const refused = yield* Effect.flip(live.updateProfile({ first_name: "Joan", about: "a".repeat(limit + 1) }))
          assert.deepInclude(refused, { _tag: "ProfileRefused", reason: "about_too_long", field: "about" })
          assert.deepStrictEqual(yield* live.profile, accepted)
        }))
    }

    it.effect("keeps a bio that is longer than the limit of today, and setting it again succeeds", () =>
      Effect.gen(function*() {
        const about = "a".repeat(140)
        const { live, userId, world } = yield* arrange({ premium: true, about })
        yield* world.setPremium(userId, false)
        assert.strictEqual((yield* live.updateProfile({ first_name: "Joan" })).about, about)
        assert.strictEqual((yield* live.updateProfile({ about })).about, about)
        const refused = yield* Effect.flip(live.updateProfile({ about: "b".repeat(140) }))
        assert.strictEqual(refused._tag, "ProfileRefused")
      }))
  })

  describe("username", () => {
    it.effect("is set, kept when it is set again, and removed with null", () =>
      Effect.gen(function*() {
        const { live, number, sessionRef } = yield* arrange()
        const username = `Name_${number}`
        assert.strictEqual((yield* live.setUsername(username)).username, username)
        assert.strictEqual((yield* live.setUsername(username)).username, username)
        assert.strictEqual((yield* seenBy(sessionRef)).username, username)
        assert.isNull((yield* live.setUsername(null)).username)
        assert.isNull((yield* live.setUsername(null)).username)
        assert.isNull((yield* seenBy(sessionRef)).username)
      }))

    it.effect("is 5 to 32 letters, digits and underscores with a letter first, otherwise malformed", () =>
      Effect.gen(function*() {
        const { live, number } = yield* arrange()
        const shortest = `q${number}_____`.slice(0, 5)
        const longest = `${"Q".repeat(28)}${1000 + number}`
        assert.strictEqual((yield* live.setUsername(shortest)).username, shortest)
        assert.strictEqual((yield* live.setUsername(longest)).username, longest)
        for (
          const malformed of [
            "",
            "abcd",
            `${longest}x`,
            "1abcde",
            "_abcde",
            "abc-de",
            "abc de",
            "abcdé",
            "@abcdef",
            "abcdef\n",
            "аbcdef"
          ]
        ) {
          const refused = yield* Effect.flip(live.setUsername(malformed))
          assert.deepInclude(refused, { _tag: "UsernameRefused", reason: "malformed" }, JSON.stringify(malformed))
        }
        assert.strictEqual((yield* live.profile).username, longest)
      }))

    it.effect("is refused as taken when another account has it in any case, until that one gives it up", () =>
      Effect.gen(function*() {
        const other = yield* arrange()
        const { live } = yield* arrange()
        const username = `Taken_${other.number}`
        yield* other.live.setUsername(username)
        for (const variant of [username, username.toLowerCase(), username.toUpperCase()]) {
          const refused = yield* Effect.flip(live.setUsername(variant))
          assert.deepInclude(refused, { _tag: "UsernameRefused", reason: "taken" })
        }
        assert.isNull((yield* live.profile).username)
        yield* other.live.setUsername(null)
        assert.strictEqual((yield* live.setUsername(username.toLowerCase())).username, username.toLowerCase())
      }))

    it.effect("may change its case", () =>
      Effect.gen(function*() {
        const { live, number } = yield* arrange()
        yield* live.setUsername(`case_${number}`)
        assert.strictEqual((yield* live.setUsername(`CASE_${number}`)).username, `CASE_${number}`)
      }))

    it.effect("is refused as purchasable when the platform sells it", () =>
      Effect.gen(function*() {
        const { live, number, world } = yield* arrange()
        yield* world.offerForSale(`Sold_${number}`)
        const refused = yield* Effect.flip(live.setUsername(`sold_${number}`))
        assert.deepInclude(refused, { _tag: "UsernameRefused", reason: "purchasable" })
        assert.isNull((yield* live.profile).username)
      }))

    it.effect("goes to one of two accounts that set it at once", () =>
      Effect.gen(function*() {
        const one = yield* arrange()
        const two = yield* arrange()
        const exits = yield* Effect.all(
          [one, two].map(({ live }) => Effect.result(live.setUsername(`wanted_${one.number}`))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.map(({ _tag }) => _tag).sort(), ["Failure", "Success"])
        const names = [(yield* one.live.profile).username, (yield* two.live.profile).username]
        assert.deepStrictEqual(names.filter((username) => username !== null), [`wanted_${one.number}`])
      }))
  })
}
