import { describe, expect, it, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as crypto from "node:crypto"
import { Role } from "../../src/domain/people/Access.ts"
import { drawnOn } from "../support/drawn.ts"
import { ask, changing, journaled, makeStage } from "../support/http/requests.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { leftOut } from "../support/preparations.ts"
import * as World from "../support/world.ts"

const moment = new Date(0)

describe("1 what the service does", () => {
  it("S1-11: the roles are owner, superadmin, admin, billing and archive, and no other", () => {
    expect(Role.literals).toEqual(["owner", "superadmin", "admin", "billing", "archive"])
  })

  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("S1-11: an admin of every role is kept, and one of another role is not", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const kept = yield* World.query<{ role: string }>(
            organization.id,
            (sql) => sql`select role from admin where organization_id = ${organization.id} order by role`
          )
          expect(kept.map(({ role }) => role)).toEqual(["admin", "archive", "billing", "owner", "superadmin"])
          const other = yield* Effect.exit(
            World.set(organization.id, "admin", organization.admins.admin.id, { role: "operator" })
          )
          expect(other._tag).toBe("Failure")
        }))

      const states = ["protected", "paused", "offboarded", "paused, then offboarded", "stopped"] as const

      it.effect.prop(
        "S1-01: an account that is protected or paused takes one seat, whatever else holds, and an offboarded one none",
        [Arbitrary.array(Arbitrary.schema(Schema.Literals(states)), { maxLength: 12 })],
        ([accounts]) =>
          Effect.gen(function*() {
            const organization = yield* World.makeOrganization({ seat_limit: 20 })
            const { key } = organization.admins.owner
            for (const state of accounts) {
              yield* World.makeAccount(organization.id, {
                facts: {
                  paused_at: state.startsWith("paused") ? moment : null,
                  offboarded_at: state.endsWith("offboarded") ? moment : null,
                  stopped_at: state === "stopped" ? moment : null
                }
              })
            }
            const used = accounts.filter((state) => !state.endsWith("offboarded")).length
            const { body } = yield* World.get("/v1/organization", key)
            expect(body.seats).toEqual({ limit: 20, used, reserved: 0, free: 20 - used })
            for (const account of (yield* World.get("/v1/accounts", key)).body.data) {
              const { licence } = (yield* World.get(`/v1/accounts/${account.id}`, key)).body
              expect([account.status, licence]).toEqual([account.status, {
                uses_licence: account.status !== "available",
                ...body.seats
              }])
            }
          }),
        drawnOn(name, 15)
      )

      it.effect("S1-01: pausing and resuming take no second seat and free none", () =>
        Effect.gen(function*() {
          const { account, organization } = yield* makeStage()
          const { key } = organization.admins.owner
          const used = Effect.map(World.get("/v1/organization", key), ({ body }) => body.seats.used)
          expect(yield* used).toBe(1)
          expect((yield* World.post(`/v1/accounts/${account.id}/pause`, key)).status).toBe(200)
          expect(yield* used).toBe(1)
          expect((yield* World.post(`/v1/accounts/${account.id}/resume`, key)).status).toBe(200)
          expect(yield* used).toBe(1)
        }))

      it.effect("S1-04: every credential acts as its own admin of its own organization, one person's in two included", () =>
        Effect.gen(function*() {
          const organizations = [yield* World.makeOrganization(), yield* World.makeOrganization()]
          const email = `both-${crypto.randomUUID()}@example.com`
          for (const { admins, id } of organizations) {
            const both = yield* World.makePerson(id, "superadmin", { email })
            for (const person of [...Object.values(admins), both]) {
              expect((yield* World.get("/v1/organization", person.key)).body.id).toBe(id)
              const choices = { security: false, storage: true, news: true, offers: true }
              expect((yield* World.put("/v1/me/mail-preferences", person.key, choices)).status).toBe(200)
              const last = (yield* World.journal(id)).at(-1)
              expect(last).toMatchObject({
                actor_type: "admin",
                actor_admin_id: person.id,
                credential_id: person.keyId
              })
              const { api_keys } = (yield* World.get("/v1/ai-connections", person.key)).body
              expect(api_keys.filter(({ mine }: any) => mine).map(({ id }: any) => id)).toEqual([person.keyId])
            }
            expect((yield* World.get("/v1/me/mail-preferences", both.key)).body.email).toBe(email)
          }
        }))

      it.effect("S1-05: a changed role holds from the next request with the same key, in both directions", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const account = yield* World.makeAccount(organization.id)
          const { id, key } = organization.admins.superadmin
          const label = (role_label: string) => World.put(`/v1/accounts/${account}/role-label`, key, { role_label })
          const recipients = World.put("/v1/settings/notifications", key, { recipients: "owner_superadmins" })
          const become = (role: string) => World.set(organization.id, "admin", id, { role })
          expect([(yield* label("One")).status, (yield* recipients).status]).toEqual([200, 200])
          yield* become("admin")
          expect(World.refusal(yield* label("Two"))).toEqual([404, "resource_missing", "account_id"])
          expect(World.refusal(yield* recipients)).toEqual([403, "superadmin_required"])
          yield* become("billing")
          expect(World.refusal(yield* label("Two"))).toEqual([403, "role_forbidden"])
          expect((yield* World.get(`/v1/accounts/${account}`, key)).body).not.toHaveProperty("sessions")
          yield* become("superadmin")
          expect([(yield* label("Two")).status, (yield* recipients).status]).toEqual([200, 200])
          expect((yield* World.get(`/v1/accounts/${account}`, key)).body).toHaveProperty("sessions", [])
        }))

      it.effect("S1-05: a grant given or taken holds from the next request, of an account, a department and the archive", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const department = yield* World.makeDepartment(organization.id)
          const direct = yield* World.makeAccount(organization.id, { facts: { archive_error: "Disk full" } })
          const filed = yield* World.makeAccount(organization.id, { facts: { department_id: department } })
          const { id, key } = organization.admins.admin
          const reached = Effect.gen(function*() {
            const { body } = yield* World.get("/v1/accounts", key)
            for (const account of [direct, filed]) {
              const listed = body.data.some((item: any) => item.id === account)
              expect((yield* World.get(`/v1/accounts/${account}`, key)).status).toBe(listed ? 200 : 404)
            }
            return body.data.map((item: any) => item.id)
          })
          const revoke = (table: string) =>
            World.query(organization.id, (sql) => sql`delete from ${sql(table)} where admin_id = ${id}`)
          expect(yield* reached).toEqual([])
          yield* World.grant(organization.id, id, { accounts: [direct] })
          expect(yield* reached).toEqual([direct])
          yield* World.grant(organization.id, id, { departments: [department] })
          expect((yield* reached).sort()).toEqual([direct, filed].sort())
          const error = Effect.map(World.get(`/v1/accounts/${direct}`, key), ({ body }) => body.archive.error)
          expect(yield* error).toBe("archive_error")
          yield* World.set(organization.id, "admin", id, { archive_access: true })
          expect(yield* error).toBe("Disk full")
          yield* World.set(organization.id, "admin", id, { archive_access: false })
          expect(yield* error).toBe("archive_error")
          yield* revoke("admin_account")
          expect(yield* reached).toEqual([filed])
          yield* revoke("admin_department")
          expect(yield* reached).toEqual([])
        }))

      it.effect("S1-08: a key answers 401 while its admin is disabled, from the next request, and works again afterwards", () =>
        Effect.gen(function*() {
          const { every, organization, ready } = yield* makeStage()
          const { id, key } = organization.admins.superadmin
          const before = yield* World.snapshot(organization.id)
          yield* World.set(organization.id, "admin", id, { disabled_at: moment })
          for (const request of every) {
            const answer = yield* ask(request, key)
            expect([request.id, ...World.refusal(answer)]).toEqual([request.id, 401, "invalid_api_key"])
          }
          yield* World.set(organization.id, "admin", id, { disabled_at: null })
          expect(yield* World.snapshot(organization.id)).toEqual(before)
          for (const { id, operation, request } of ready(organization.admins.superadmin)) {
            if (leftOut.enabledAgain(operation)) continue
            const answer = yield* ask(yield* request, key)
            expect([id, ...World.refusal(answer)]).toEqual([id, 200, undefined])
          }
        }))

      it.effect("S1-10, S6-01, S6-02: each changing operation leaves its journal entry, as the admin's act, with the key that was used", () =>
        Effect.gen(function*() {
          const { organization, ready } = yield* makeStage()
          for (const id of changing) {
            const person = yield* World.makePerson(organization.id, "superadmin", { key: { label: `Key of ${id}` } })
            yield* World.set(organization.id, "admin", person.id, { name: `Author of ${id}` })
            const { operation, request: prepared } = ready(person).find((one) => one.id === id)!
            const request = yield* prepared
            const before = (yield* World.journal(organization.id)).length
            const answer = yield* ask(request, person.key)
            expect([id, ...World.refusal(answer)]).toEqual([id, 200, undefined])
            const entries = (yield* World.journal(organization.id)).slice(before)
            expect([id, ...entries.map(({ action, outcome }) => `${action} ${outcome}`)]).toEqual([
              id,
              ...journaled(operation)
            ])
            const about = "account_id" in operation.params ? request.input["account_id"] : null
            for (const entry of entries) {
              expect(entry).toMatchObject({
                ...(entry.action === operation.journal?.action ? { target_type: operation.journal.target } : {}),
                ...(about === null ? {} : { account_id: about }),
                ...(about === null || entry.target_type !== "account" ? {} : { target_id: about }),
                actor_type: "admin",
                actor_admin_id: person.id,
                actor_name: `Author of ${id}`,
                credential_kind: "api_key",
                credential_id: person.keyId,
                credential_label: `Key of ${id}`,
                via: "rest",
                request_id: answer.headers.get("request-id")
              })
            }
          }
        }))
    })
  })
})
