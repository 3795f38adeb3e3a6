import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

describe("4.8 get_account", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.8-01: a well-formed id answers the single read, in either case, and a malformed one is refused", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const id = yield* World.makeAccount(organization.id, { first_name: "Ada" })
          const { body, status } = yield* World.get(`/v1/accounts/${id}`, key)
          expect(status).toBe(200)
          expect(Object.keys(body).sort()).toEqual([
            "archive",
            "archive_consent_at",
            "content_notice",
            "department_id",
            "id",
            "joined_at",
            "licence",
            "licence_tier",
            "messenger_user_id",
            "monitoring",
            "name",
            "object",
            "offboarded_at",
            "phone_number",
            "role_label",
            "security_lock",
            "sessions",
            "status",
            "tamper",
            "terminations"
          ])
          expect(body).toMatchObject({ object: "account", id, name: "Ada", content_notice: contentNotice })
          expect((yield* World.get(`/v1/accounts/${id.toUpperCase()}`, key)).body).toEqual(body)
          for (
            const wrong of [
              "1",
              `${id}0`,
              id.slice(1),
              id.replaceAll("-", ""),
              `{${id}}`,
              "%00",
              "..%2f",
              "x".repeat(300),
              encodeURIComponent("'; drop table account")
            ]
          ) {
            const refused = yield* World.get(`/v1/accounts/${wrong}`, key)
            expect([wrong, ...World.refusal(refused)]).toEqual([wrong, 400, "parameter_invalid", "account_id"])
          }
          expect(World.refusal(yield* World.get(`/v1/accounts/${id}?fields=name`, key))).toEqual([
            400,
            "parameter_invalid",
            "fields"
          ])
        }))

      it.effect("S4.8-02: admin and archive reach granted accounts alone, and any other id answers what an unknown one does", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const elsewhere = yield* World.makeAccount((yield* World.makeOrganization()).id)
          const department = yield* World.makeDepartment(organization.id)
          const other = yield* World.makeDepartment(organization.id)
          const direct = yield* World.makeAccount(organization.id, { facts: { department_id: other } })
          const filed = yield* World.makeAccount(organization.id, { facts: { department_id: department } })
          const hidden = yield* World.makeAccount(organization.id, { facts: { department_id: other } })
          for (const role of ["admin", "archive"] as const) {
            const { id, key } = organization.admins[role]
            const another = yield* World.makePerson(organization.id, role)
            yield* World.grant(organization.id, id, { accounts: [direct], departments: [department] })
            yield* World.grant(organization.id, another.id, { accounts: [hidden], departments: [other] })
            const unknown = yield* World.get(`/v1/accounts/${crypto.randomUUID()}`, key)
            expect(World.refusal(unknown)).toEqual([404, "resource_missing", "account_id"])
            for (const account of [direct, filed]) {
              expect((yield* World.get(`/v1/accounts/${account}`, key)).body.id).toBe(account)
            }
            for (const account of [hidden, elsewhere]) {
              const answer = yield* World.get(`/v1/accounts/${account}`, key)
              expect([answer.status, answer.body]).toEqual([404, unknown.body])
            }
          }
          for (const role of ["owner", "superadmin", "billing"] as const) {
            const { key } = organization.admins[role]
            for (const account of [direct, filed, hidden]) {
              expect((yield* World.get(`/v1/accounts/${account}`, key)).status).toBe(200)
            }
            expect((yield* World.get(`/v1/accounts/${elsewhere}`, key)).status).toBe(404)
          }
        }))
    })
  })
})
