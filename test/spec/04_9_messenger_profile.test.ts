import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as crypto from "node:crypto"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { drawnOn } from "../support/drawn.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const pathOf = (id: string) => `/v1/accounts/${id}/messenger-profile`

/** An organization with one live account, and how often the service asked the platform to change it. */
const make = Effect.fnUntraced(function*(person: Parameters<typeof World.makeLiveAccount>[1] = {}) {
  const organization = yield* World.makeOrganization()
  const account = yield* World.makeLiveAccount(organization.id, person)
  const platform = yield* SimulatedPlatform
  const changes = Effect.map(
    platform.calls,
    (calls) => calls.filter((call) => call.user_id === account.userId && call.operation === "update_profile").length
  )
  return { organization, account, platform, changes, path: pathOf(account.id), key: organization.admins.owner.key }
})

describe("4.9 get_account_messenger_profile, 4.10 update_messenger_profile", () => {
  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.9-01: the profile is read live: what its holder changes shows at the next read, and nothing is kept", () =>
        Effect.gen(function*() {
          const { account, key, organization, path, platform } = yield* make({ about: "Before" })
          const stored = yield* World.snapshot(organization.id)
          const { body, status } = yield* World.get(path, key)
          expect([status, body]).toEqual([200, {
            content_notice: contentNotice,
            object: "messenger_profile",
            first_name: "Ada",
            last_name: "Lovelace",
            username: null,
            about: "Before",
            phone: account.phone,
            photo_id: null,
            login_email_pattern: null,
            recovery_email_pattern: null,
            two_fa_present: false,
            two_fa_managed: false,
            passkey_present: false,
            passkey_managed: false,
            passkey_eligible_at: expect.stringMatching(/^\d{4}-.*Z$/),
            bio_limit: 70,
            paired_session: { state: "none", since: null, error: null }
          }])
          const username = `ada_${crypto.randomInt(1e9)}`
          yield* platform.changeProfile(account.userId, {
            first_name: "Grace",
            last_name: "",
            about: "After",
            username,
            photo_id: "77"
          })
          yield* platform.setPremium(account.userId, true)
          expect((yield* World.get(path, key)).body).toEqual({
            ...body,
            first_name: "Grace",
            last_name: null,
            about: "After",
            username,
            photo_id: "77",
            bio_limit: 140
          })
          expect(yield* World.snapshot(organization.id)).toEqual(stored)
        }))

      it.effect("S4.9-03, S4.10-08: without a live session both answer no_session, which names the remedy, and nothing changes", () =>
        Effect.gen(function*() {
          const { account, changes, key, organization, path, platform } = yield* make()
          const never = yield* World.makeAccount(organization.id)
          yield* platform.revokeService(account.userId)
          const before = yield* World.snapshot(organization.id)
          for (const address of [path, pathOf(never)]) {
            for (const answer of [yield* World.get(address, key), yield* World.patch(address, key, { about: "New" })]) {
              expect(World.refusal(answer)).toEqual([409, "no_session"])
              expect(answer.body.error.message).toMatch(/connect it again/)
            }
          }
          expect(yield* changes).toBe(0)
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      const Field = Schema.Literals(["", "Ada", "Grace", "O'Brien"])

      it.effect.prop(
        "S4.10-01: the fields that are sent are set, those left out stay, and with none or no body it only reads",
        {
          first_name: Schema.Literals(["Ada", "Grace", "O'Brien"]),
          last_name: Field,
          about: Field,
          sent: Arbitrary.schema(
            Schema.Struct({ first_name: Schema.Boolean, last_name: Schema.Boolean, about: Schema.Boolean })
          )
        },
        ({ sent, ...wanted }) =>
          Effect.gen(function*() {
            const { key, organization, path } = yield* make({ about: "Before" })
            const before = (yield* World.get(path, key)).body
            const stored = (yield* World.journal(organization.id)).length
            const body = Object.fromEntries(Object.entries(wanted).filter(([name]) => sent[name as keyof typeof sent]))
            const answer = yield* World.patch(path, key, body)
            const expected = {
              ...before,
              ...Object.fromEntries(Object.entries(body).map(([name, text]) => [name, text === "" ? null : text]))
            }
            expect([answer.status, answer.body]).toEqual([200, expected])
            expect((yield* World.get(path, key)).body).toEqual(expected)
            expect((yield* World.patch(path, key)).body).toEqual(expected)
            const entries = (yield* World.journal(organization.id)).slice(stored)
            const differs = Object.keys(body).filter((name) => expected[name] !== before[name])
            expect(entries.map(({ outcome }) => outcome)).toEqual(differs.length === 0 ? [] : ["pending", "done"])
            for (const { details } of entries) expect(details).toEqual({ fields: differs.join(", ") })
          }),
        drawnOn(name, 15)
      )

      it.effect("S4.10-02: a property other than the three is refused by its name, and nothing changes", () =>
        Effect.gen(function*() {
          const { changes, key, organization, path } = yield* make()
          const before = yield* World.snapshot(organization.id)
          for (
            const name of [
              "username",
              "phone",
              "bio",
              "photo_id",
              "First_name",
              "account_id",
              "constructor",
              "bio_limit"
            ]
          ) {
            const refused = yield* World.patch(path, key, { about: "New", [name]: "x" })
            expect(World.refusal(refused)).toEqual([400, "parameter_invalid", name])
          }
          for (const body of [[], "text", 1, null]) {
            expect(World.refusal(yield* World.patch(path, key, body))).toEqual([400, "parameter_invalid", "body"])
          }
          expect(yield* changes).toBe(0)
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      it.effect("S4.10-03: a name of 64 characters is set, one of 65 refused by its field, counted in code points", () =>
        Effect.gen(function*() {
          const { changes, key, path } = yield* make()
          for (const field of ["first_name", "last_name"] as const) {
            for (const text of ["x".repeat(64), "é".repeat(64), "🦊".repeat(64)]) {
              const answer = yield* World.patch(path, key, { [field]: text })
              expect([answer.status, answer.body[field]]).toEqual([200, text])
            }
            const made = yield* changes
            for (
              const text of [
                "x".repeat(65),
                "🦊".repeat(65),
                ` ${"x".repeat(64)}`,
                null,
                1,
                ["Ada"],
                "a\u0000",
                "a\ud800"
              ]
            ) {
              const refused = yield* World.patch(path, key, { [field]: text })
              expect(World.refusal(refused)).toEqual([400, "parameter_invalid", field])
            }
            expect(yield* changes).toBe(made)
          }
        }))

      it.effect("S4.10-04, S4.10-05: with premium a bio has 140 characters, without it 70, and 141 are never asked for", () =>
        Effect.gen(function*() {
          const premium = yield* make({ premium: true })
          for (const text of ["x".repeat(140), "🦊".repeat(140)]) {
            const answer = yield* World.patch(premium.path, premium.key, { about: text })
            expect([answer.status, answer.body.about, answer.body.bio_limit]).toEqual([200, text, 140])
          }
          const plain = yield* make()
          const seventy = yield* World.patch(plain.path, plain.key, { about: "y".repeat(70) })
          expect([seventy.status, seventy.body.about, seventy.body.bio_limit]).toEqual([200, "y".repeat(70), 70])
          for (const length of [71, 140]) {
            const refused = yield* World.patch(plain.path, plain.key, {
              first_name: "Other",
              about: "x".repeat(length)
            })
            expect(World.refusal(refused)).toEqual([400, "bio_too_long", "about"])
          }
          expect((yield* World.get(plain.path, plain.key)).body).toMatchObject({
            first_name: "Ada",
            about: "y".repeat(70)
          })
          const last = (yield* World.journal(plain.organization.id)).at(-1)
          expect(last).toMatchObject({
            action: "profile.updated",
            outcome: "failed",
            details: { error: "bio_too_long" }
          })
          for (const { key, path, changes } of [premium, plain]) {
            const made = yield* changes
            for (const about of ["x".repeat(141), "🦊".repeat(141), null, 1]) {
              expect(World.refusal(yield* World.patch(path, key, { about }))).toEqual([
                400,
                "parameter_invalid",
                "about"
              ])
            }
            expect(yield* changes).toBe(made)
          }
        }))

      it.effect("S4.10-06: the change is made on the real account, kept as its name, and in the journal", () =>
        Effect.gen(function*() {
          const { account, changes, key, organization, path } = yield* make()
          const answer = yield* World.patch(path, key, { first_name: "Grace", last_name: "Hopper" })
          expect([answer.status, answer.body.first_name, answer.body.last_name]).toEqual([200, "Grace", "Hopper"])
          expect(yield* changes).toBe(1)
          expect((yield* World.get(path, key)).body).toEqual(answer.body)
          expect((yield* World.get(`/v1/accounts/${account.id}`, key)).body.name).toBe("Grace Hopper")
          const entries = yield* World.journal(organization.id)
          expect(entries).toMatchObject([
            { action: "profile.updated", outcome: "pending", account_id: account.id, closes: null },
            { action: "profile.updated", outcome: "done", account_id: account.id, closes: 1 }
          ])
          expect(JSON.stringify(entries)).not.toContain("Hopper")
        }))
    })
  })
})
