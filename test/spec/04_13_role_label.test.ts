import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const moment = new Date(0)
const pathOf = (id: string) => `/v1/accounts/${id}/role-label`

describe("4.13 set_account_role_label", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.13-01: role_label is required, a string or null, and no other member is allowed", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const path = pathOf(yield* World.makeAccount(organization.id, { facts: { role_label: "Before" } }))
          const before = yield* World.snapshot(organization.id)
          for (
            const body of [
              {},
              ...[1, true, ["x"], { x: 1 }, "a\u0000b", "a\u0007b", "a\tb", "a\ud800"].map((role_label) => ({
                role_label
              }))
            ]
          ) {
            expect([body, ...World.refusal(yield* World.put(path, key, body))]).toEqual([
              body,
              400,
              "parameter_invalid",
              "role_label"
            ])
          }
          expect(World.refusal(yield* World.send("PUT", path, { key }))).toEqual([
            400,
            "parameter_invalid",
            "role_label"
          ])
          for (const name of ["label", "account_id", "name", "__proto__"]) {
            const raw = `{"role_label":"x","${name}":"y"}`
            expect(World.refusal(yield* World.send("PUT", path, { key, raw }))).toEqual([
              400,
              "parameter_invalid",
              name
            ])
          }
          expect(yield* World.snapshot(organization.id)).toEqual(before)
          const other = yield* World.makeAccount(organization.id, { facts: { role_label: "Before" } })
          const raised = yield* World.snapshot(organization.id)
          const elsewhere = yield* World.put(path, key, { role_label: "After", account_id: other })
          expect(World.refusal(elsewhere)).toEqual([400, "parameter_invalid", "account_id"])
          expect(yield* World.snapshot(organization.id)).toEqual(raised)
        }))

      it.effect("S4.13-02: 60 characters are accepted and 61 refused, counted in code points and as sent", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const path = pathOf(yield* World.makeAccount(organization.id))
          for (const text of ["x", "x".repeat(60), "🦊".repeat(60), "é".repeat(60)]) {
            const answer = yield* World.put(path, key, { role_label: text })
            expect([answer.status, answer.body.role_label]).toEqual([200, text])
          }
          for (const text of ["x".repeat(61), "🦊".repeat(61), ` ${"x".repeat(60)}`, "e\u0301".repeat(31)]) {
            expect(World.refusal(yield* World.put(path, key, { role_label: text }))).toEqual([
              400,
              "parameter_invalid",
              "role_label"
            ])
          }
          expect((yield* World.put(path, key, { role_label: "e\u0301".repeat(30) })).body.role_label).toBe(
            "é".repeat(30)
          )
        }))

      it.effect("S4.13-03: an empty label and null clear it", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const id = yield* World.makeAccount(organization.id)
          for (const empty of ["", null, "   "]) {
            expect((yield* World.put(pathOf(id), key, { role_label: "Pilot" })).body.role_label).toBe("Pilot")
            const answer = yield* World.put(pathOf(id), key, { role_label: empty })
            expect([answer.status, answer.body.role_label]).toEqual([200, null])
            expect((yield* World.get(`/v1/accounts/${id}`, key)).body.role_label).toBeNull()
          }
        }))

      it.effect("S4.13-04: the answer is the list's account with the new label, and the next reads show it", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const id = yield* World.makeAccount(organization.id)
          const other = yield* World.makeAccount(organization.id)
          const answer = yield* World.put(pathOf(id), key, { role_label: "Head of \"Sales\" <b>" })
          expect([answer.status, answer.body.content_notice]).toEqual([200, contentNotice])
          const { content_notice: notice, ...account } = answer.body
          expect([notice, account.role_label]).toEqual([contentNotice, "Head of \"Sales\" <b>"])
          const { data } = (yield* World.get("/v1/accounts", key)).body
          expect(data.find((item: any) => item.id === id)).toEqual(account)
          expect(data.find((item: any) => item.id === other).role_label).toBeNull()
          expect((yield* World.get(`/v1/accounts/${id}`, key)).body).toMatchObject(account)
          expect((yield* World.journal(organization.id)).map(({ action, details }) => [action, details])).toEqual([
            ["account.role_label_set", { role_label: "Head of \"Sales\" <b>" }]
          ])
        }))

      it.effect("S4.13-06: no state of the account refuses the change, and none is changed by it", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          for (
            const [status, facts] of Object.entries({
              protected: {},
              status_unknown: { monitoring_state: "unknown" },
              protection_stopped: { stopped_at: moment },
              hijack_blocked: { takeover_stopped_at: moment },
              recently_connected: { connected_at: moment, enforcement_active_at: new Date(86_400_000) },
              paused: { paused_at: moment },
              available: { offboarded_at: moment }
            })
          ) {
            const id = yield* World.makeAccount(organization.id, { facts })
            const answer = yield* World.put(pathOf(id), key, { role_label: status })
            expect([answer.status, answer.body.status, answer.body.role_label]).toEqual([200, status, status])
          }
          const waiting = yield* World.makeAccount(organization.id)
          yield* World.addRows("session", organization.id, [
            { account_id: waiting, id: "1", seen_at: moment, review_deadline: new Date(1) }
          ])
          expect((yield* World.put(pathOf(waiting), key, { role_label: "x" })).body.status).toBe("new_sign_in")
        }))
    })
  })
})
