import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, makeStage } from "../support/http/requests.ts"
import { forSpecification, postgres } from "../support/postgres/database.ts"
import { leftOut } from "../support/preparations.ts"
import * as World from "../support/world.ts"

/** Nothing is archived without protection. */
const saving = ["start_backup"]

describe("4.1 get_organization", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.1-01: takes no parameters and no body, and answers the organization of the credential", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const { body, status } = yield* World.get("/v1/organization", key)
          expect(status).toBe(200)
          expect(body).toEqual({
            object: "organization",
            id: organization.id,
            name: `Organization ${organization.id}`,
            status: "active",
            valid_until: null,
            protection_active: true,
            plan: {
              billing_state: "active",
              managed: true,
              plan: "governance",
              period: "annual",
              licences: { protect: 0, archive: 0, governance: 100 }
            },
            seats: { limit: 100, used: 0, reserved: 0, free: 100 },
            archive: { key_set: true, plan: true, readable: false, writable: true, phase: "empty" },
            tamper_lockdown_enabled: true
          })
          for (const query of ["limit=1", "id=other", "organization_id=other", "x"]) {
            const refused = yield* World.get(`/v1/organization?${query}`, key)
            expect(World.refusal(refused)).toEqual([400, "parameter_invalid", query.split("=")[0]])
          }
          const withBody = yield* World.send("GET", "/v1/organization", { key, body: { id: "other" } })
          expect(World.refusal(withBody)).toEqual([400, "parameter_invalid", "id"])
          expect((yield* World.send("GET", "/v1/organization", { key, body: {} })).body).toEqual(body)
        }))

      it.effect("S4.1-02: every role gets the same answer", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const answers = yield* Effect.forEach(
            Object.values(admins),
            ({ key }) => World.get("/v1/organization", key)
          )
          expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
          for (const { body } of answers) expect(body).toEqual(answers[0]!.body)
        }))

      it.effect("S4.1-03: an organization that was wound down answers organization_closed at every operation", () =>
        Effect.gen(function*() {
          const { every, organization } = yield* makeStage()
          yield* World.set(organization.id, "organization", organization.id, { closed_at: new Date(0) })
          const before = yield* World.snapshot(organization.id)
          for (const { key } of [organization.admins.owner, organization.admins.superadmin]) {
            for (const request of every) {
              const answer = yield* ask(request, key)
              expect([request.id, ...World.refusal(answer)]).toEqual([request.id, 403, "organization_closed"])
            }
          }
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))
    })
  })

  layer(World.world(postgres))((it) => {
    it.effect("S4.1-03: an organization that is pending or suspended is answered as any other, but connects no account", () =>
      Effect.gen(function*() {
        for (const status of ["pending", "suspended"]) {
          const { organization, ready } = yield* makeStage({ status })
          const { owner } = organization.admins
          for (const { id, operation, request } of ready(owner)) {
            if (leftOut.notLive(operation)) continue
            const answer = yield* ask(yield* request, owner.key)
            const expected = saving.includes(id) ? [409, "archive_readonly"] : [200, undefined]
            expect([status, id, ...World.refusal(answer)]).toEqual([status, id, ...expected])
          }
        }
      }))
  })
})
