import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const path = "/v1/settings/notifications"

describe("4.5 get_notification_recipients, 4.6 set_notification_recipients", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.5-01: takes no parameters, and answers the settings to every role", () =>
        Effect.gen(function*() {
          for (const recipients of ["owner", "owner_superadmins"]) {
            const { admins } = yield* World.makeOrganization({ notification_recipients: recipients })
            for (const { key } of Object.values(admins)) {
              const { body, status } = yield* World.get(path, key)
              expect([status, body]).toEqual([200, { object: "notification_settings", recipients }])
            }
            expect(World.refusal(yield* World.get(`${path}?recipients=owner`, admins.owner.key))).toEqual(
              [400, "parameter_invalid", "recipients"]
            )
          }
        }))

      it.effect("S4.6-01: recipients is required and one of two, and no other member is allowed", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const before = yield* World.snapshot(organization.id)
          const bodies = [
            {},
            ...["Owner", "owner ", "superadmins", "nobody", "", null, true, 1, ["owner"], { owner: true }].map((
              recipients
            ) => ({ recipients }))
          ]
          for (const body of bodies) {
            expect([body, ...World.refusal(yield* World.put(path, key, body))]).toEqual(
              [body, 400, "parameter_invalid", "recipients"]
            )
          }
          const beside = yield* World.put(path, key, { recipients: "owner_superadmins", email: "a@example.com" })
          expect(World.refusal(beside)).toEqual([400, "parameter_invalid", "email"])
          const raw = "{\"recipients\":\"owner\",\"recipients\":\"owner_superadmins\"}"
          expect(World.refusal(yield* World.send("PUT", path, { key, raw }))).toEqual(
            [400, "parameter_invalid", "recipients"]
          )
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      it.effect("S4.6-02, S4.6-03: owner and superadmin change it, and everybody reads the new value", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          for (
            const [role, recipients] of [["owner", "owner_superadmins"], ["superadmin", "owner"], [
              "owner",
              "owner_superadmins"
            ]] as const
          ) {
            const answer = yield* World.put(path, organization.admins[role].key, { recipients })
            expect([answer.status, answer.body]).toEqual([200, { object: "notification_settings", recipients }])
            for (const { key } of Object.values(organization.admins)) {
              expect((yield* World.get(path, key)).body).toEqual(answer.body)
            }
          }
          expect((yield* World.get(path, other.admins.owner.key)).body.recipients).toBe("owner")
        }))
    })
  })
})
