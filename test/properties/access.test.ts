import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role, Scope } from "../../src/domain/people/Access.ts"
import { sampled } from "../support/drawn.ts"
import * as AdminTables from "../support/people/adminTables.ts"
import * as Populated from "../support/populated.ts"
import { postgres } from "../support/postgres/database.ts"
import { below, most, some } from "../support/properties/rights.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

/** What an admin is given: any of it may be taken away. */
interface Rights {
  readonly role: Role
  readonly scopes: ReadonlyArray<Scope>
  readonly accounts: ReadonlyArray<number>
  readonly departments: ReadonlyArray<number>
}

const rights: Arbitrary.Arbitrary<Rights> = Arbitrary.all({
  role: Random.pickOf(...Role.literals),
  scopes: most(Scope.literals),
  accounts: most([0, 1, 2, 3, 4, 5]),
  departments: some([0, 1])
})

/** Rights, and the same with something taken away. */
const pairs = Arbitrary.flatMap(rights, (more) => {
  const without = <K extends keyof Rights>(key: K, values: Arbitrary.Arbitrary<Rights[K]>) =>
    Arbitrary.map(values, (value): Rights => ({ ...more, [key]: value }))
  return Arbitrary.map(
    Random.oneOf(
      without("scopes", some(more.scopes)),
      without("accounts", some(more.accounts)),
      without("departments", some(more.departments)),
      ...below[more.role].map((role) => Arbitrary.Constant({ ...more, role }))
    ),
    (less) => ({ more, less })
  )
})

/** Requests, and the rights that they are sent with. */
const asked = (...of: Parameters<typeof Random.drafts>) => Arbitrary.all({ pair: pairs, draft: Random.drafts(...of) })

type Asked = Effect.Success<ReturnType<typeof sample>>[number]
const sample = () => Arbitrary.sampleEffect(asked(), sampled(1))

type Fixture = Populated.Populated

/** Gives the admin exactly these rights. */
const give = Effect.fnUntraced(function*(organization: Fixture, person: World.Person, rights: Rights) {
  const { id, ids } = organization
  yield* World.set(id, "api_key", person.keyId, { scopes: rights.scopes })
  yield* World.set(id, "admin", person.id, { role: rights.role })
  yield* World.query(id, (sql) =>
    Effect.gen(function*() {
      for (const table of ["admin_account", "admin_department"]) {
        yield* sql`delete from ${sql(table)} where organization_id = ${id} and admin_id = ${person.id}`
      }
      return []
    }))
  yield* World.grant(id, person.id, {
    accounts: rights.accounts.flatMap((place) => ids.account[place] ?? []),
    departments: rights.departments.flatMap((place) => ids.department[place] ?? [])
  })
})

const standing = ["offboarded_at", "paused_at", "resumed_at", "stopped_at", "stop_reason", "monitoring_state"] as const

/** The facts that decide whether an account can be paused, resumed and offboarded. */
const facts = ({ id }: Fixture) =>
  World.query<{ id: string }>(
    id,
    (sql) => sql`select id, ${sql.literal(standing.join(", "))} from account where organization_id = ${id}`
  )

const restore = ({ id }: Fixture, rows: Effect.Success<ReturnType<typeof facts>>) =>
  Effect.forEach(rows, ({ id: account, ...columns }) => World.set(id, "account", account, columns))

/** What the credential sees of the lists, as ids. */
const seen = Effect.fnUntraced(function*(key: World.Person["key"]) {
  const lists = yield* Effect.forEach(
    ["/v1/accounts?limit=100", "/v1/journal?limit=100", "/v1/ai-connections"],
    (path) => World.get(path, key)
  )
  return lists.flatMap(({ body }) => [...(body.data ?? []), ...(body.connections ?? []), ...(body.api_keys ?? [])])
    .map((item: { id: string }) => item.id)
})

describe("1 never more than the admin may", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S1-06: taking away a scope, a role or a grant never turns a refusal into a success", () =>
      Effect.gen(function*() {
        const organization = yield* Populated.make()
        const { id, ids } = organization
        let compared = 0
        const property = ({ draft, pair }: Asked) =>
          Effect.gen(function*() {
            yield* TestClock.adjust("61 seconds")
            const person = pair.more.role === "owner"
              ? organization.admins.owner
              : yield* World.makePerson(id, pair.more.role)
            const request = Random.draw(draft, ids)
            const before = yield* facts(organization)
            const { restored } = yield* AdminTables.kept(id)
            yield* give(organization, person, pair.less)
            const less = yield* Random.sendSound(request, person.key)
            const seenByLess = yield* seen(person.key)
            yield* restore(organization, before)
            yield* restored
            yield* give(organization, person, pair.more)
            const more = yield* Random.sendSound(request, person.key)
            const seenByMore = new Set(yield* seen(person.key))
            yield* restore(organization, before)
            yield* restored
            if (less.status < 300) {
              compared += 1
              expect(more.status).toBe(less.status)
            }
            expect(seenByLess.filter((object) => !seenByMore.has(object))).toEqual([])
          })
        yield* Random.holds(asked(), 60, property)
        yield* Random.holds(asked(({ id }) => id === "offboard_account"), 15, property)
        expect(compared).toBeGreaterThan(0)
      }))

    it.effect("S1-05, S5.1-07: a changed role, scope or grant holds from the next request, in both directions", () =>
      Effect.gen(function*() {
        const organization = yield* Populated.make()
        const { id, ids } = organization
        const { admin } = organization.admins
        const account = `/v1/accounts/${ids.account[5]}`
        const label = Effect.map(
          World.put(`${account}/role-label`, admin.key, { role_label: "L" }),
          (answer) => answer.status
        )
        const all: Rights = { role: "admin", scopes: Scope.literals, accounts: [5], departments: [] }
        const steps: ReadonlyArray<readonly [Partial<Rights>, number]> = [
          [{}, 200],
          [{ accounts: [] }, 404],
          [{ accounts: [], departments: [0] }, 200],
          [{ accounts: [], departments: [1] }, 404],
          [{ role: "superadmin", accounts: [] }, 200],
          [{ role: "archive" }, 403],
          [{ role: "billing" }, 403],
          [{}, 200],
          [{ scopes: ["org:read"] }, 403],
          [{ scopes: ["accounts:write"] }, 200]
        ]
        for (const [rights, status] of steps) {
          yield* give(organization, admin, { ...all, ...rights })
          expect(yield* label, JSON.stringify(rights)).toBe(status)
        }
        yield* World.set(id, "admin", admin.id, { disabled_at: new Date(0) })
        expect(yield* label).toBe(401)
        yield* World.set(id, "admin", admin.id, { disabled_at: null })
        expect(yield* label).toBe(200)
        yield* World.set(id, "account", ids.account[5] ?? "", { department_id: ids.department[1] })
        yield* give(organization, admin, { ...all, accounts: [], departments: [1] })
        expect(yield* label).toBe(200)
        yield* World.set(id, "account", ids.account[5] ?? "", { department_id: ids.department[0] })
        expect(yield* label).toBe(404)
      }))
  })
})
