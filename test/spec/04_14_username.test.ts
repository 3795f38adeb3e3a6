import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const pathOf = (id: string) => `/v1/accounts/${id}/messenger-profile/username`
const fresh = (prefix = "name") => `${prefix}_${crypto.randomUUID().slice(0, 8)}`

const make = Effect.fnUntraced(function*(person: Parameters<typeof World.makeLiveAccount>[1] = {}) {
  const organization = yield* World.makeOrganization()
  const account = yield* World.makeLiveAccount(organization.id, person)
  const platform = yield* SimulatedPlatform
  const changes = Effect.map(
    platform.calls,
    (calls) => calls.filter((call) => call.user_id === account.userId && call.operation === "set_username").length
  )
  const { key } = organization.admins.owner
  const profile = Effect.map(World.get(`/v1/accounts/${account.id}/messenger-profile`, key), ({ body }) => body)
  return { organization, account, platform, changes, key, profile, path: pathOf(account.id) }
})

describe("4.14 set_messenger_username", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.14-01: username is a required string without @ in front, and the platform is not asked for anything else", () =>
        Effect.gen(function*() {
          const { changes, key, organization, path } = yield* make()
          const before = yield* World.snapshot(organization.id)
          for (
            const body of [
              {},
              ...[null, 1, true, ["ada"], "@ada_lovelace", "@", "@@ada_l"].map((username) => ({ username }))
            ]
          ) {
            expect([body, ...World.refusal(yield* World.put(path, key, body))]).toEqual([
              body,
              400,
              "parameter_invalid",
              "username"
            ])
          }
          const beside = yield* World.put(path, key, { username: fresh(), first_name: "x" })
          expect(World.refusal(beside)).toEqual([400, "parameter_invalid", "first_name"])
          expect(yield* changes).toBe(0)
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      it.effect("S4.14-02: 32 characters are accepted and 33 refused", () =>
        Effect.gen(function*() {
          const { changes, key, path } = yield* make()
          const text = `u${crypto.randomUUID().replaceAll("-", "").slice(1)}`
          expect(text).toHaveLength(32)
          const answer = yield* World.put(path, key, { username: text })
          expect([answer.status, answer.body.username]).toEqual([200, text])
          expect(World.refusal(yield* World.put(path, key, { username: `${text}0` }))).toEqual([
            400,
            "parameter_invalid",
            "username"
          ])
          expect(yield* changes).toBe(1)
        }))

      it.effect("S4.14-03: an empty username removes it, once and again", () =>
        Effect.gen(function*() {
          const { account, changes, key, organization, path, profile } = yield* make({ username: fresh() })
          const answer = yield* World.put(path, key, { username: "" })
          expect([answer.status, answer.body.username]).toEqual([200, null])
          expect((yield* profile).username).toBeNull()
          expect((yield* World.put(path, key, { username: "" })).body).toEqual(answer.body)
          expect(yield* changes).toBe(1)
          expect((yield* World.journal(organization.id)).map(({ details, outcome }) => [outcome, details])).toEqual([
            ["pending", {}],
            ["done", {}]
          ])
          expect((yield* World.get(`/v1/accounts/${account.id}`, key)).body.name).toBe("Ada Lovelace")
        }))

      it.effect("S4.14-04: the answer is the profile with the new username, which the real account has and the journal names", () =>
        Effect.gen(function*() {
          const { account, changes, key, organization, path, profile } = yield* make()
          const before = yield* profile
          const username = fresh()
          const answer = yield* World.put(path, key, { username })
          expect([answer.status, answer.body]).toEqual([200, { ...before, username }])
          expect(answer.body.content_notice).toBe(contentNotice)
          expect(yield* profile).toEqual(answer.body)
          expect(yield* changes).toBe(1)
          expect(yield* World.journal(organization.id)).toMatchObject([
            { action: "profile.username_set", outcome: "pending", account_id: account.id, details: { username } },
            {
              action: "profile.username_set",
              outcome: "done",
              account_id: account.id,
              details: { username },
              closes: 1
            }
          ])
        }))

      it.effect("S4.14-05: a taken, a malformed and a sold username are refused each by its code, and the old one stays", () =>
        Effect.gen(function*() {
          const own = fresh("own")
          const taken = fresh("taken")
          const sold = fresh("sold")
          const { key, organization, path, platform, profile } = yield* make({ username: own })
          yield* make({ username: taken })
          yield* platform.offerForSale(sold)
          for (
            const [username, status, code] of [
              [taken, 409, "username_taken"],
              [taken.toUpperCase(), 409, "username_taken"],
              [sold, 409, "username_purchasable"],
              ...["abcd", "1abcde", "_abcde", "ada-l", "ada l", "adä_l", "ada@l", "x"].map((text) =>
                [text, 400, "username_invalid"] as const
              )
            ] as const
          ) {
            expect([username, ...World.refusal(yield* World.put(path, key, { username }))]).toEqual([
              username,
              status,
              code,
              "username"
            ])
            expect((yield* World.journal(organization.id)).at(-1)).toMatchObject({
              outcome: "failed",
              details: { username, error: code, certain: true }
            })
          }
          expect((yield* profile).username).toBe(own)
          expect((yield* World.put(path, key, { username: own })).status).toBe(200)
        }))

      it.effect("S4.14-06: without a session every username is refused with no_session, and nothing changes", () =>
        Effect.gen(function*() {
          const { account, changes, key, organization, path, platform } = yield* make()
          yield* platform.revokeService(account.userId)
          const before = yield* World.snapshot(organization.id)
          for (const username of [fresh(), "", "abcd"]) {
            expect(World.refusal(yield* World.put(path, key, { username }))).toEqual([409, "no_session"])
          }
          expect(yield* changes).toBe(0)
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))
    })
  })
})
