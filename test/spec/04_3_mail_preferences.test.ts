import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { drawnOn } from "../support/drawn.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const path = "/v1/me/mail-preferences"
const choices = { security: false, storage: true, news: true, offers: false }

describe("4.3 get_mail_preferences, 4.4 set_mail_preferences", () => {
  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.3-01: takes no parameters, and answers the credential's own admin's address and choices", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          for (const { id, key } of Object.values(organization.admins)) {
            const email = `mail-${id}@example.com`
            yield* World.set(organization.id, "admin", id, { email, mail_storage: false, mail_offers: true })
            const { body, status } = yield* World.get(path, key)
            expect([status, body]).toEqual([200, {
              object: "mail_preferences",
              email,
              choices: { security: true, storage: false, news: false, offers: true }
            }])
          }
          const { id, key } = organization.admins.owner
          expect(World.refusal(yield* World.get(`${path}?admin_id=${id}`, key))).toEqual(
            [400, "parameter_invalid", "admin_id"]
          )
        }))

      it.effect("S4.3-02: an admin without a sign-in of their own gets mail_preferences_unavailable, reading and setting", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { id, key } = organization.admins.admin
          yield* World.set(organization.id, "admin", id, { joined_at: null })
          const before = yield* World.snapshot(organization.id)
          expect(World.refusal(yield* World.get(path, key))).toEqual([409, "mail_preferences_unavailable"])
          expect(World.refusal(yield* World.put(path, key, choices))).toEqual([409, "mail_preferences_unavailable"])
          expect(yield* World.snapshot(organization.id)).toEqual(before)
          yield* World.set(organization.id, "admin", id, { joined_at: new Date(0) })
          expect((yield* World.put(path, key, choices)).status).toBe(200)
        }))

      it.effect("S4.4-01: each of the four is required and boolean, and the one at fault is named", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const before = yield* World.snapshot(organization.id)
          for (const name of ["security", "storage", "news", "offers"] as const) {
            const missing = Object.fromEntries(Object.entries(choices).filter(([known]) => known !== name))
            for (
              const body of [
                missing,
                ...[null, 0, 1, "true", "", [], {}].map((value) => ({ ...choices, [name]: value }))
              ]
            ) {
              expect([body, ...World.refusal(yield* World.put(path, key, body))]).toEqual(
                [body, 400, "parameter_invalid", name]
              )
            }
          }
          for (const body of [{ choices }, [], "text", null, true, 1]) {
            expect(World.refusal(yield* World.put(path, key, body)).slice(0, 2)).toEqual([400, "parameter_invalid"])
          }
          expect(World.refusal(yield* World.send("PUT", path, { key }))).toEqual([400, "parameter_invalid", "security"])
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      it.effect("S4.4-02: any other property is refused by its name, and nothing changes", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const before = yield* World.snapshot(organization.id)
          for (const name of ["email", "choices", "admin_id", "Security", "constructor", "toString", "", " "]) {
            const refused = yield* World.put(path, key, { ...choices, [name]: true })
            expect(World.refusal(refused)).toEqual([400, "parameter_invalid", name === "" ? "body" : name])
          }
          const raw = `${JSON.stringify(choices).slice(0, -1)},"__proto__":{"x":1}}`
          expect(World.refusal(yield* World.send("PUT", path, { key, raw }))).toEqual(
            [400, "parameter_invalid", "__proto__"]
          )
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      it.effect.prop(
        "S4.4-03, S4.4-04: whatever is chosen is answered, read afterwards, and kept for the credential's own admin alone",
        [
          Schema.Struct({
            security: Schema.Boolean,
            storage: Schema.Boolean,
            news: Schema.Boolean,
            offers: Schema.Boolean
          }),
          Arbitrary.schema(Schema.Literals(["owner", "superadmin", "admin", "billing", "archive"]))
        ],
        ([wanted, role]) =>
          Effect.gen(function*() {
            const organization = yield* World.makeOrganization()
            const other = yield* World.makeOrganization()
            const me = organization.admins[role]
            const elsewhere = yield* World.snapshot(other.id)
            const stored = Effect.map(World.snapshot(organization.id), ({ admin }) => admin as ReadonlyArray<any>)
            const before = yield* stored
            const answer = yield* World.put(path, me.key, wanted)
            expect([answer.status, answer.body.choices]).toEqual([200, wanted])
            expect((yield* World.get(path, me.key)).body).toEqual(answer.body)
            const { id } = me
            expect((yield* stored).filter((row) => row.id !== id)).toEqual(before.filter((row) => row.id !== id))
            expect((yield* stored).find((row) => row.id === id)).toEqual({
              ...before.find((row) => row.id === id),
              mail_security: wanted.security,
              mail_storage: wanted.storage,
              mail_news: wanted.news,
              mail_offers: wanted.offers
            })
            expect(yield* World.snapshot(other.id)).toEqual(elsewhere)
          }),
        drawnOn(name, 20)
      )
    })
  })
})
