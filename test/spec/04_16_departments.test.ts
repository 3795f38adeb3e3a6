import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { drawnOn } from "../support/drawn.ts"
import * as Limited from "../support/people/limited.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

const create = (key: World.Asking["key"] & {}, name: unknown) =>
  World.send("POST", "/v1/departments", { key, body: { name } })
const move = (key: World.Asking["key"] & {}, account: string, department_id: string | null) =>
  World.put(`/v1/accounts/${account}/department`, key, { department_id })
const counts = (answer: World.Answer): ReadonlyArray<readonly [string, number]> =>
  answer.body.data.map(({ accounts, name }: { name: string; accounts: number }) => [name, accounts])

/** Departments A, B and C; two accounts in A, one in B, one in none. */
const staged = Effect.gen(function*() {
  const organization = yield* World.makeOrganization()
  const { id } = organization
  const [a, b, c] = [
    yield* World.makeDepartment(id, "Alpha"),
    yield* World.makeDepartment(id, "beta"),
    yield* World.makeDepartment(id, "Gamma")
  ] as const
  const filed = (department_id: string | null) => World.makeAccount(id, { facts: { department_id } })
  return {
    ...organization,
    a,
    b,
    c,
    a1: yield* filed(a),
    a2: yield* filed(a),
    b1: yield* filed(b),
    free: yield* filed(null)
  }
})

describe("4.16, 10.6 departments", () => {
  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("are listed by name with the accounts that the caller can access, page by page", () =>
        Effect.gen(function*() {
          const { a, a1, admins, b, b1, free, id } = yield* staged
          const list = (key: World.Asking["key"] & {}, query = "") => World.get(`/v1/departments${query}`, key)
          const all = [["Alpha", 2], ["beta", 1], ["Gamma", 0]]
          for (const role of ["owner", "superadmin", "billing"] as const) {
            expect(counts(yield* list(admins[role].key))).toEqual(all)
          }
          expect(counts(yield* list(admins.admin.key))).toEqual([])
          yield* World.grant(id, admins.admin.id, { accounts: [a1, b1, free], departments: [b] })
          expect(counts(yield* list(admins.admin.key))).toEqual([["Alpha", 1], ["beta", 1]])
          const first = yield* list(admins.owner.key, "?limit=2")
          expect([counts(first), first.body.has_more]).toEqual([all.slice(0, 2), true])
          const rest = yield* list(admins.owner.key, `?limit=2&starting_after=${first.body.data[1].id}`)
          expect([counts(rest), rest.body.has_more]).toEqual([all.slice(2), false])
          const unknown = yield* list(admins.admin.key, `?starting_after=${crypto.randomUUID()}`)
          expect(World.refusal(unknown)).toEqual([400, "parameter_invalid", "starting_after"])
          const limits: ReadonlyArray<readonly [Limited.Limit, World.Person, ReadonlyArray<unknown>]> = [
            [{ accounts: [a1, free] }, admins.owner, [["Alpha", 1]]],
            [{ departments: [a] }, admins.owner, [["Alpha", 2]]],
            [{ departments: [a] }, admins.admin, [["Alpha", 1]]],
            [{ accounts: [] }, admins.billing, []]
          ]
          for (const [limit, person, shown] of limits) {
            const { call } = yield* Limited.connect(id, person, limit)
            const { body } = yield* call("list_departments", {})
            expect(body.data.map(({ accounts, name }: any) => [name, accounts]), JSON.stringify(limit)).toEqual(shown)
          }
        }))

      it.effect("have a name that no other has, whatever its case and form, and are journaled", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          const made = yield* create(admins.owner.key, "  Legal ")
          expect(made.body).toMatchObject({ object: "department", name: "Legal", accounts: 0 })
          for (const name of ["legal", "LEGAL", "Ｌegal"]) {
            expect(World.refusal(yield* create(admins.superadmin.key, name))).toEqual([
              409,
              "department_exists",
              "name"
            ])
          }
          for (const name of ["", "  ", "x".repeat(81), "a\nb", 7]) {
            expect(World.refusal(yield* create(admins.owner.key, name))).toEqual([400, "parameter_invalid", "name"])
          }
          expect((yield* create(other.admins.owner.key, "Legal")).status).toBe(200)
          yield* create(admins.owner.key, "Sales")
          const rename = (name: string) => World.patch(`/v1/departments/${made.body.id}`, admins.owner.key, { name })
          expect(World.refusal(yield* rename("sales"))).toEqual([409, "department_exists", "name"])
          expect((yield* rename("LEGAL")).body).toEqual({ ...made.body, name: "LEGAL" })
          expect((yield* rename("LEGAL")).status).toBe(200)
          const deleted = yield* World.send("DELETE", `/v1/departments/${made.body.id}`, { key: admins.owner.key })
          expect(deleted.body).toEqual({ object: "department", id: made.body.id, deleted: true })
          expect(World.refusal(yield* rename("Gone"))).toEqual([404, "resource_missing", "department_id"])
          const events = yield* World.journal(id)
          expect(events.map(({ action, details, target_id }) => [action, details, target_id])).toEqual([
            ["department.created", { name: "Legal" }, made.body.id],
            ["department.created", { name: "Sales" }, expect.any(String)],
            ["department.renamed", { name: "LEGAL", from: "Legal" }, made.body.id],
            ["department.deleted", { name: "LEGAL" }, made.body.id]
          ])
        }))

      it.effect("are not deleted while an account, an admin or a live connection is given them", () =>
        Effect.gen(function*() {
          const { a, admins, b1, c, id } = yield* staged
          const remove = (department: string) =>
            Effect.map(
              World.send("DELETE", `/v1/departments/${department}`, { key: admins.superadmin.key }),
              World.refusal
            )
          expect(yield* remove(a)).toEqual([409, "department_in_use"])
          expect((yield* World.journal(id)).map(({ action, details, outcome }) => [action, outcome, details])).toEqual([
            ["department.deleted", "refused", { code: "department_in_use" }]
          ])
          yield* World.grant(id, admins.archive.id, { departments: [c] })
          expect(yield* remove(c)).toEqual([409, "department_in_use"])
          yield* World.query(id, (sql) => sql`delete from admin_department where organization_id = ${id}`)
          const connection = yield* Limited.connect(id, admins.owner, { departments: [c] })
          expect(yield* remove(c)).toEqual([409, "department_in_use"])
          yield* World.send("DELETE", `/v1/ai-connections/${connection.id}`, { key: admins.owner.key })
          expect(yield* remove(c)).toEqual([200, undefined])
          expect((yield* move(admins.owner.key, b1, c)).body.error).toMatchObject({
            code: "resource_missing",
            param: "department_id"
          })
        }))

      it.effect("take accounts in every state, and count them as they move", () =>
        Effect.gen(function*() {
          const { a, a1, admins, b, id } = yield* staged
          yield* World.set(id, "account", a1, { offboarded_at: new Date(0) })
          const moved = yield* move(admins.superadmin.key, a1, b)
          expect([moved.status, moved.body.department_id]).toEqual([200, b])
          expect((yield* move(admins.superadmin.key, a1, b)).status).toBe(200)
          expect(counts(yield* World.get("/v1/departments", admins.owner.key))).toEqual([
            ["Alpha", 1],
            ["beta", 2],
            ["Gamma", 0]
          ])
          yield* move(admins.superadmin.key, a1, null)
          const events = yield* World.journal(id)
          expect(events.map(({ account_id, action, details }) => [action, account_id, details])).toEqual([
            ["account.department_set", a1, { from: a, department_id: b }],
            ["account.department_set", a1, { from: b }]
          ])
        }))

      it.effect("are left only where the caller can access the account otherwise", () =>
        Effect.gen(function*() {
          const { a, a1, a2, admins, b, c, id } = yield* staged
          yield* World.grant(id, admins.admin.id, { accounts: [a1], departments: [a] })
          const { key } = admins.admin
          expect(World.refusal(yield* move(key, a1, c))).toEqual([404, "resource_missing", "department_id"])
          expect(World.refusal(yield* move(key, a2, null))).toEqual([409, "access_not_applicable", "department_id"])
          expect((yield* move(key, a1, null)).status).toBe(200)
          expect((yield* move(key, a1, a)).status).toBe(200)
          const byAccounts = yield* Limited.connect(id, admins.owner, { accounts: [a1] })
          const put = (limited: typeof byAccounts, account_id: string, department_id: string | null) =>
            Effect.map(limited.call("set_account_department", { account_id, department_id }), ({ code }) => code)
          expect(yield* put(byAccounts, a1, b)).toBe("resource_missing")
          expect(yield* put(byAccounts, a1, a)).toBe("access_not_applicable")
          expect(yield* put(byAccounts, a1, null)).toBe("done")
          const byDepartments = yield* Limited.connect(id, admins.owner, { departments: [a, b] })
          expect(yield* put(byDepartments, a1, a)).toBe("resource_missing")
          expect(yield* put(byDepartments, a2, null)).toBe("access_not_applicable")
          expect(yield* put(byDepartments, a2, c)).toBe("resource_missing")
          expect(yield* put(byDepartments, a2, b)).toBe("done")
        }))

      it.effect.prop(
        "no sequence of moves changes what the mover reaches",
        {
          accounts: Arbitrary.array(Random.between(0, 3), { maxLength: 3 }),
          departments: Arbitrary.array(Random.between(0, 2), { maxLength: 2 }),
          moves: Arbitrary.array(Arbitrary.all([Random.between(0, 3), Random.between(-1, 2)]), {
            minLength: 1,
            maxLength: 8
          })
        },
        ({ accounts, departments, moves }) =>
          Effect.gen(function*() {
            yield* TestClock.adjust("61 seconds")
            const { a, a1, a2, admins, b, b1, c, free, id } = yield* staged
            const people = [a1, a2, b1, free]
            yield* World.grant(id, admins.admin.id, {
              accounts: [...new Set(accounts)].map((place) => people[place]!),
              departments: [...new Set(departments)].map((place) => [a, b, c][place]!)
            })
            const reached = Effect.map(World.get("/v1/accounts", admins.admin.key), ({ body }) =>
              body.data.map((account: { id: string }) => account.id))
            const before = yield* reached
            for (const [who, where] of moves) {
              yield* move(admins.admin.key, people[who]!, [a, b, c][where] ?? null)
            }
            expect(yield* reached).toEqual(before)
          }),
        drawnOn(name, 25)
      )
    })
  })
})
