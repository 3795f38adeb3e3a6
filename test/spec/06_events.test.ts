import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role } from "../../src/domain/people/Access.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { ask, changing, journaled, makeStage } from "../support/http/requests.ts"
import { forSpecification, postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { allowed } from "./table.ts"

describe("6 events", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S6-02: the record names the very key of the admin that was used, by the label that it had then", () =>
        Effect.gen(function*() {
          const { account, organization } = yield* makeStage()
          const { id } = organization.admins.owner
          const made: Array<{ readonly id: string; readonly label: string }> = []
          for (const label of ["One", "Two", "Three"]) {
            const key = yield* World.makeKey(organization.id, id, ["accounts:write"], { label })
            const answer = yield* World.put(`/v1/accounts/${account.id}/role-label`, key.key, { role_label: label })
            expect(answer.status).toBe(200)
            yield* World.set(organization.id, "api_key", key.id, { label: `${label}, renamed` })
            made.push({ id: key.id, label })
          }
          const entries = (yield* World.journal(organization.id)).slice(-3)
          expect(entries.map((entry) => ({
            kind: entry.credential_kind,
            id: entry.credential_id,
            label: entry.credential_label,
            role_label: entry.details["role_label"]
          }))).toEqual(made.map(({ id, label }) => ({ kind: "api_key", id, label, role_label: label })))
        }))

      it.effect("a refused change leaves no entry, and one that the messenger did not answer says that its outcome is unknown", () =>
        Effect.gen(function*() {
          const { account, organization } = yield* makeStage()
          const platform = yield* SimulatedPlatform
          const { key } = organization.admins.owner
          const before = (yield* World.journal(organization.id)).length
          const path = `/v1/accounts/${account.id}/messenger-profile`
          expect((yield* World.post(`/v1/accounts/${account.id}/resume`, key)).status).toBe(409)
          expect((yield* World.patch(path, key, { about: "x".repeat(141) })).status).toBe(400)
          expect((yield* World.patch(path, organization.admins.billing.key, { about: "x" })).status).toBe(403)
          expect((yield* World.journal(organization.id)).length).toBe(before)
          yield* platform.script({ answer: { _tag: "Lost" }, operation: "update_profile", userId: account.userId })
          const answer = yield* World.patch(path, key, { about: "Lost" })
          expect(World.refusal(answer)).toEqual([503, "messenger_unavailable"])
          expect((yield* World.journal(organization.id)).slice(before)).toMatchObject([
            { outcome: "pending", details: { fields: "about" } },
            {
              outcome: "failed",
              details: { fields: "about", error: "messenger_unavailable", certain: false },
              closes: before + 1
            }
          ])
        }))
    })
  })

  layer(World.world(postgres))((it) => {
    it.effect("S6-01: every changing operation is recorded at its moment, for the admin of each role that may do it", () =>
      Effect.gen(function*() {
        for (const [place, role] of Role.literals.entries()) {
          const moment = new Date(1_800_000_000_000 + place * 1000)
          yield* TestClock.setTime(moment.getTime())
          const { account, department, organization, ready } = yield* makeStage()
          yield* World.grant(organization.id, organization.admins[role].id, {
            accounts: [account.id],
            departments: [department]
          })
          const events = World.journal(organization.id)
          for (const { id, operation, request } of ready(organization.admins[role])) {
            if (!changing.has(id) || allowed(id, role) !== "ok") continue
            const sent = yield* request
            const before = (yield* events).length
            const answer = yield* ask(sent, organization.admins[role].key)
            expect([role, id, ...World.refusal(answer)]).toEqual([role, id, 200, undefined])
            const entries = (yield* events).slice(before)
            expect([role, id, ...entries.map(({ action, outcome }) => `${action} ${outcome}`)]).toEqual([
              role,
              id,
              ...journaled(operation)
            ])
            for (const { actor_admin_id, actor_type, at } of entries) {
              expect([actor_type, actor_admin_id, at]).toEqual(["admin", organization.admins[role].id, moment])
            }
          }
        }
      }))
  })
})
