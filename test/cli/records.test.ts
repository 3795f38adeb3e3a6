import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Output from "../../src/cli/commands/Output.ts"
import type { AccountId } from "../../src/domain/accounts/Account.ts"
import { act } from "../support/operator/operator.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const owner = "olivia@acme.example"
const ada = { organization: "acme", email: "ada@acme.example" }

const unchanged = { organization: "acme", name: null, plan: null, seats: null, valid_until: null, open_ended: false }

describe("the commands that list, show and change what is there", () => {
  forEachDatabase((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("show what was made, change it with the guards of the API, and journal every change", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Date.parse("2026-03-01T12:00:00.000Z"))
          expect(yield* act((requests) => requests.organizations_list({}))).toEqual({ organizations: [] })
          yield* act((requests) =>
            requests.organizations_create({
              id: "acme",
              name: "Acme",
              owner,
              plan: "governance",
              seats: 3,
              valid_until: null
            })
          )
          yield* act((requests) => requests.admins_create({ ...ada, role: "admin", name: null, archive_access: false }))
          const made = yield* act((requests) =>
            requests.keys_create({
              ...ada,
              label: "Export",
              scopes: ["org:read"],
              expires_in_days: 1
            })
          )

          const set = (changes: object) => act((requests) => requests.organizations_set({ ...unchanged, ...changes }))
          expect(yield* set({})).toMatch(/^There is nothing to change/)
          expect(yield* set({ seats: -1 })).toMatch(/^seats: /)
          expect(yield* set({ valid_until: new Date("2027-01-01"), open_ended: true })).toMatch(/not both\.$/)
          expect(yield* act((requests) => requests.organizations_set({ ...unchanged, organization: "nope", seats: 1 })))
            .toBe(
              "There is no organization nope."
            )
          const changed = yield* set({ seats: 50, valid_until: new Date("2027-01-01"), plan: "protect" })
          expect(changed).toMatchObject({
            id: "acme",
            name: "Acme",
            plan: "protect",
            seats: { limit: 50, used: 0 },
            valid_until: new Date("2027-01-01")
          })
          expect(yield* set({ open_ended: true })).toMatchObject({ valid_until: null })
          expect(yield* set({ time_zone: "Mars/Olympus" })).toMatch(/^There is no time zone Mars\/Olympus/)
          expect(yield* set({ time_zone: "europe/berlin" })).toMatchObject({ time_zone: "Europe/Berlin" })
          expect(yield* act((requests) => requests.organizations_show({ organization: "acme" }))).toMatchObject({
            valid_until: null
          })

          const setAda = (changes: object) =>
            act((requests) => requests.admins_set({ ...ada, name: null, role: null, ...changes }))
          expect(yield* setAda({})).toMatch(/^There is nothing to change/)
          expect(yield* setAda({ role: "owner" })).toMatch(/^An organization has one owner/)
          expect(yield* act((requests) => requests.admins_set({ ...ada, email: owner, name: null, role: "admin" })))
            .toMatch(
              /^An organization has one owner/
            )
          expect(yield* setAda({ role: "superadmin", name: "Ada" })).toMatchObject({ role: "superadmin", name: "Ada" })
          expect(yield* setAda({ role: "superadmin" })).toMatchObject({ role: "superadmin" })
          expect((yield* act((requests) => requests.admins_list({ organization: "acme" }))).admins).toMatchObject([
            { email: owner, role: "owner", state: "invited", has_password: false },
            { email: ada.email, role: "superadmin", state: "invited" }
          ])

          const state = Effect.map(
            act((requests) => requests.keys_show({ organization: "acme", key_id: made.key_id })),
            (key) => [key.admin, key.state]
          )
          expect(yield* state).toEqual([ada.email, "works"])
          yield* act((requests) => requests.admins_disable(ada))
          expect(yield* state).toEqual([ada.email, "stopped"])
          yield* act((requests) => requests.admins_enable(ada))
          yield* TestClock.adjust("1 day")
          expect(yield* state).toEqual([ada.email, "expired"])
          yield* act((requests) => requests.keys_revoke({ organization: "acme", key_id: made.key_id }))
          expect(yield* state).toEqual([ada.email, "revoked"])
          const listed = yield* act((requests) => requests.keys_list({ organization: "acme" }))
          expect(listed.keys).toHaveLength(1)
          expect(JSON.stringify(listed)).not.toMatch(/_live_|digest/)
          expect(yield* act((requests) => requests.keys_show({ organization: "acme", key_id: "123" }))).toBe(
            "acme has no key 123."
          )

          const [{ events }] = yield* act((requests) =>
            Stream.runCollect(requests.journal_export({ organization: "acme", after_sequence: 3 }))
          )
          expect(events.map(({ action, details }: any) => [action, details])).toEqual([
            ["organization.set", { seats: 50, plan: "protect", valid_until: "2027-01-01T00:00:00.000Z" }],
            ["organization.set", { open_ended: true }],
            ["organization.set", { time_zone: "Europe/Berlin" }],
            ["admin.role_set", { email: ada.email, name: "Ada", role: "superadmin", from: "admin" }],
            ["admin.disabled", { sessions: 0 }],
            ["admin.enabled", {}],
            ["api_key.revoked", {}]
          ])
        }))

      it.effect("list the accounts of an organization by name, also beyond one page, and the newest events of its journal", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Date.parse("2026-03-02T12:00:00.000Z"))
          const { id } = yield* World.makeOrganization()
          for (const [name, facts] of [["Bo", {}], ["Ann", { paused_at: new Date(0), role_label: "Board" }]] as const) {
            yield* World.makeAccount(id, { phone: "+49155", first_name: name, facts })
          }
          const list = (organization: string, after: AccountId | null = null) =>
            act((requests) => requests.accounts_list({ organization, after, limit: 1 }))
          const first = yield* list(id)
          expect(first).toMatchObject({
            accounts: [{ name: "Ann", status: "paused", role_label: "Board" }],
            has_more: true
          })
          expect(yield* list(id, first.accounts[0].id)).toMatchObject({
            accounts: [{ name: "Bo", phone_number: "+49155", status: "protected", role_label: null }],
            has_more: false
          })
          expect(yield* list("nope")).toBe("There is no organization nope.")

          const tail = (after_sequence: number | null, limit: number) =>
            act((requests) => requests.journal_tail({ organization: "acme", after_sequence, limit }))
          const { events, last_sequence } = yield* tail(null, 2)
          expect(events.map(({ action, sequence }: any) => [action, last_sequence - sequence])).toEqual([
            ["admin.enabled", 1],
            ["api_key.revoked", 0]
          ])
          expect((yield* tail(null, 1000)).events).toHaveLength(last_sequence)
          expect(yield* tail(last_sequence, 10)).toEqual({ events: [], last_sequence })
          expect((yield* tail(last_sequence - 1, 10)).events).toEqual([events[1]])
        }))

      it.effect("show what the database is, the version of its schema, and which peppers it was used with", () =>
        Effect.gen(function*() {
          const status = yield* act((requests) => requests.database_status({}))
          expect(status).toMatchObject({ owns_tables: name === "PGlite", organizations: 2, last_checkpoint: null })
          expect(status.schema.applied).toBe(status.schema.known)
          expect(status.version).toMatch(/^1\d\.\d+$/)
          expect(status.size_bytes).toBeGreaterThan(1e6)
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ pepper_id: string }>`select pepper_id from api_key`
          expect(status.peppers_used).toEqual([row?.pepper_id])
        }))
    })
  })
})

describe("a table for people", () => {
  it("fits 80 columns, and cuts the widest column but the first", () => {
    const id = "01a1ffd4-bd28-707e-baab-23739ca39709"
    const lines = Output.table(["KEY ID", "LABEL", "STATE"], [
      [id, "a label that goes on and on until nobody reads it", "works"],
      [id, "short", "revoked"]
    ])
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
    expect(lines[1]).toBe(`${id}  a label that goes on and on unti…  works`)
    expect(lines[2]).toMatch(/^\S+ {2}short {30}revoked$/)
  })
})
