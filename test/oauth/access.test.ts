import { describe, expect, layer } from "@effect/vitest"
import { Effect, Schema, SchemaAST, Struct } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../src/domain/people/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import { drawn } from "../support/drawn.ts"
import * as Requests from "../support/http/requests.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  approve,
  challengeOf,
  makeVerifier,
  redeemWith,
  registerApplication,
  setPassword,
  signIn,
  tokens
} from "./support.ts"

const all: ReadonlyArray<Operation.Any> = operations
const scope = "archive:read org:read accounts:write security:write admins:write archive:delete"

const aboutAccounts = all.filter((operation) => "account_id" in operation.params)

/** Reads of what there is, without a filter. */
const overviews = all.filter(({ kind, params }) => kind === "read" && Object.keys(params).length === 0).map(
  (operation) =>
    Requests.requestOf(
      operation,
      Struct.pick(
        operation.sample.request as Readonly<Record<string, unknown>>,
        Object.keys(operation.query).filter((name) => !SchemaAST.isOptional(operation.query[name]!.ast))
      )
    )
)

/** What is answered about an account that cannot be accessed. */
const missing = [404, "resource_missing", "account_id"]

/** What an operation answers about one, to a role that may call it and to any other. */
const refused = ({ refusal, roles }: Operation.Any, role: Role) =>
  roles.includes(role) ? missing : [403, refusal.identifier]

/**
 * An organization of so many accounts, every other one in one of two departments, each with an entry of the journal.
 */
const makeAccounts = Effect.fnUntraced(function*() {
  const organization = yield* World.makeOrganization()
  const departments = [yield* World.makeDepartment(organization.id), yield* World.makeDepartment(organization.id)]
  const accounts = yield* Effect.forEach(
    Array.from({ length: 6 }),
    Effect.fnUntraced(function*(_, at) {
      const department_id = departments[at % 3] ?? null
      const { id } = yield* World.makeLiveAccount(organization.id, {}, { facts: { department_id } })
      yield* World.put(`/v1/accounts/${id}/role-label`, organization.admins.owner.key, { role_label: `Label ${at}` })
      yield* World.addRows("session", organization.id, [
        { account_id: id, id: "2", review_deadline: new Date(9e12), seen_at: new Date(0) }
      ])
      return { id, department_id }
    })
  )
  return { accounts, departments, organization }
})

interface Listed {
  readonly scope_type: string
  readonly all_accounts: boolean
  readonly account_ids: ReadonlyArray<string>
  readonly department_ids: ReadonlyArray<string>
}

type Made = Effect.Success<ReturnType<typeof makeAccounts>>

/** The token of an application that an admin has given all scopes and this reach. */
const tokenOf = Effect.fnUntraced(function*(
  { organization }: Made,
  adminId: string,
  scopeType: "all" | "accounts" | "departments",
  ids: ReadonlyArray<string> = []
) {
  yield* setPassword(organization.id, adminId)
  const admin = yield* signIn(organization.id, adminId)
  const application = yield* registerApplication()
  const verifier = makeVerifier()
  const reach = scopeType === "all" ? { everything: true } : { scopeType, ids }
  const { code } = yield* approve(application, admin, challengeOf(verifier), { params: { scope }, ...reach })
  return tokens(yield* redeemWith({ application, code, verifier })).access_token
})

/** Whatever the role's token is answered about accounts is about these alone, at every operation for one of each kind. */
const reachesOnly = Effect.fnUntraced(function*(
  made: Made,
  token: string,
  reached: ReadonlyArray<string>,
  role: Role = "owner"
) {
  const { accounts, organization } = made
  yield* TestClock.adjust("1 minute")
  const listed = yield* World.get("/v1/accounts?limit=100", token)
  expect(listed.body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(reached.toSorted())
  const asked = new Set<string>()
  for (const { department_id, id } of accounts) {
    yield* TestClock.adjust("1 minute")
    const kind = `${reached.includes(id)} ${department_id}`
    const sent = asked.has(kind) ? aboutAccounts.filter(({ id }) => id === "get_account") : aboutAccounts
    asked.add(kind)
    const before = reached.includes(id) ? undefined : yield* World.snapshot(organization.id)
    for (const operation of sent) {
      const subject = { account: id, session: "2", ...(department_id === null ? {} : { department: department_id }) }
      const request = Requests.requestOf(operation, Requests.inputOf(operation, subject))
      const answer = yield* Requests.ask(request, token)
      if (reached.includes(id)) {
        expect([operation.id, id, ...World.refusal(answer)]).not.toEqual([operation.id, id, ...missing])
      } else {
        expect([operation.id, id, ...World.refusal(answer)]).toEqual([operation.id, id, ...refused(operation, role)])
      }
    }
    if (before !== undefined) expect(yield* World.snapshot(organization.id)).toEqual(before)
    if (department_id !== null) {
      const filed = yield* World.get(`/v1/accounts?department_id=${department_id}`, token)
      expect(filed.body.data.every((account: { id: string }) => reached.includes(account.id))).toBe(true)
    }
    if (!reached.includes(id)) {
      const after = yield* World.get(`/v1/accounts?starting_after=${id}`, token)
      expect(World.refusal(after)).toEqual([400, "parameter_invalid", "starting_after"])
    }
  }
  yield* TestClock.adjust("1 minute")
  const journal = yield* World.get("/v1/journal?limit=100", token)
  for (const event of journal.body.data) {
    if (event.account_id !== null) expect(reached).toContain(event.account_id)
  }
  for (const request of overviews) {
    const text = JSON.stringify((yield* Requests.ask(request, token)).body)
    for (const { id } of accounts) if (!reached.includes(id)) expect(text, request.id).not.toContain(id)
  }
  for (const event of yield* World.journal(organization.id)) {
    if (event.account_id === null || reached.includes(event.account_id)) continue
    // However many events there are, the budget of the token is not spent.
    yield* TestClock.adjust("1 second")
    expect(World.refusal(yield* World.get(`/v1/journal/${event.id}`, token)).slice(0, 2)).toEqual([
      404,
      "resource_missing"
    ])
  }
  expect((yield* World.get("/v1/journal/tail", token)).status).toBe(403)
})

describe("what a connection can access", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S5.2-15: one limited to accounts can access those and nothing else, on every operation", () =>
      Effect.gen(function*() {
        const made = yield* makeAccounts()
        const { admins, id } = made.organization
        yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
        const [first, second, third] = made.accounts.map((account) => account.id)
        yield* tokenOf(made, admins.owner.id, "accounts", [third!])
        yield* tokenOf(made, admins.owner.id, "departments", made.departments)
        for (const ids of [[first!, second!], []]) {
          yield* reachesOnly(made, yield* tokenOf(made, admins.owner.id, "accounts", ids), ids)
        }
        yield* World.grant(id, admins.admin.id, { accounts: [first!, third!] })
        const token = yield* tokenOf(made, admins.admin.id, "accounts", [first!, third!])
        yield* World.query(
          id,
          (sql) =>
            sql`delete from admin_account where organization_id = ${id} and account_id = ${third!} returning account_id`
        )
        yield* reachesOnly(made, token, [first!], "admin")
      }))

    it.effect("S5.2-15: one limited to departments can access the accounts filed there, as they are at the request", () =>
      Effect.gen(function*() {
        const made = yield* makeAccounts()
        const [department] = made.departments
        const filed = made.accounts.filter(({ department_id }) => department_id === department).map(({ id }) => id)
        expect(filed.length).toBe(2)
        const token = yield* tokenOf(made, made.organization.admins.owner.id, "departments", [department!])
        yield* reachesOnly(made, token, filed)
        const [moved] = made.accounts.filter(({ department_id }) => department_id === null)
        yield* World.set(made.organization.id, "account", moved!.id, { department_id: department })
        yield* World.set(made.organization.id, "account", filed[0]!, { department_id: null })
        yield* reachesOnly(made, token, [filed[1]!, moved!.id])
      }))

    it.effect("S5.2-15: one to all accounts can access what its admin can, also what is added later", () =>
      Effect.gen(function*() {
        const made = yield* makeAccounts()
        const { admins, id } = made.organization
        yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
        const [department] = made.departments
        const ids = made.accounts.map((account): string => account.id)
        yield* World.grant(id, admins.admin.id, { accounts: [ids[2]!] })
        const [owners, admins_] = [
          yield* tokenOf(made, admins.owner.id, "all"),
          yield* tokenOf(made, admins.admin.id, "all")
        ]
        yield* World.grant(id, admins.admin.id, { departments: [department!] })
        const later = yield* World.makeLiveAccount(id, {}, { facts: { department_id: department! } })
        const more = { ...made, accounts: [...made.accounts, { id: later.id, department_id: department! }] }
        yield* reachesOnly(more, owners, [...ids, later.id])
        yield* reachesOnly(more, admins_, [ids[0]!, ids[3]!, ids[2]!, later.id], "admin")
        const { body } = yield* World.get("/v1/ai-connections", admins.owner.key)
        expect(
          body.connections.map((
            { account_ids, all_accounts, scope_type }: Listed
          ) => [scope_type, all_accounts, account_ids.toSorted()])
        ).toEqual([
          ["accounts", true, [ids[0]!, ids[3]!, ids[2]!, later.id].toSorted()],
          ["accounts", true, [...ids, later.id].toSorted()]
        ])
      }))

    it.effect("a connection to all accounts names them up to a hundred, and beyond says all_accounts alone", () =>
      Effect.gen(function*() {
        const made = yield* makeAccounts()
        const { admins, id } = made.organization
        yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
        const department = yield* World.makeDepartment(id)
        yield* World.grant(id, admins.admin.id, { departments: [department] })
        yield* tokenOf(made, admins.owner.id, "all")
        yield* tokenOf(made, admins.admin.id, "all")
        const counts = Effect.map(
          World.get("/v1/ai-connections", admins.owner.key),
          ({ body }) =>
            body.connections.map(({ account_ids, all_accounts }: Listed) => [all_accounts, account_ids.length])
        )
        const facts = { department_id: department }
        for (let count = 0; count < 94; count++) yield* World.makeAccount(id, { facts })
        expect(yield* counts).toEqual([[true, 94], [true, 100]])
        for (let count = 0; count < 7; count++) yield* World.makeAccount(id, { facts })
        expect(yield* counts).toEqual([[true, 0], [true, 0]])
      }))

    it.effect("a connection sees of other connections only the accounts and departments that it can access itself", () =>
      Effect.gen(function*() {
        const made = yield* makeAccounts()
        const owner = made.organization.admins.owner
        const [one, two] = made.departments
        const [first, second] = made.accounts.map(({ id }) => id)
        yield* tokenOf(made, owner.id, "accounts", [first!, second!])
        yield* tokenOf(made, owner.id, "departments", [one!, two!])
        yield* tokenOf(made, owner.id, "all")
        const seen = Effect.fnUntraced(function*(token: string) {
          const { body } = yield* World.get("/v1/ai-connections", token)
          return body.connections.slice(-3).map((
            connection: Listed
          ) => [connection.account_ids, connection.department_ids])
        })
        expect(yield* seen(yield* tokenOf(made, owner.id, "accounts", [second!]))).toEqual([
          [[second], []],
          [[], []],
          [[second], []]
        ])
        expect(yield* seen(yield* tokenOf(made, owner.id, "departments", [one!]))).toEqual([
          [made.accounts.filter(({ department_id }) => department_id === one).map(({ id }) => id), []],
          [[], [one]],
          [[first], []]
        ])
      }))

    it.effect("the accounts and departments of a connection have one order for every reader", () =>
      Effect.gen(function*() {
        const made = yield* makeAccounts()
        const { owner } = made.organization.admins
        const orders = [made.accounts.map(({ id }) => id), made.accounts.map(({ id }) => id).toReversed()]
        for (const ids of orders) {
          const token = yield* tokenOf(made, owner.id, "accounts", ids)
          for (const reader of [token, owner.key]) {
            const { body } = yield* World.get("/v1/ai-connections", reader)
            expect(body.connections[0].account_ids).toEqual(ids)
          }
        }
        const departments = made.departments.toReversed()
        const token = yield* tokenOf(made, owner.id, "departments", departments)
        const { body } = yield* World.get("/v1/ai-connections", token)
        expect(body.connections[0].department_ids).toEqual(departments)
      }))
  })

  layer(World.world(postgres))((it) => {
    const Index = Schema.Literals([0, 1, 2, 3, 4, 5])
    it.effect.prop(
      "S5.2-15: whatever is chosen, whatever the role and its own access, nothing else is reached",
      [
        Schema.Array(Index),
        Schema.Array(Index),
        Schema.Literals(["all", "accounts", "departments"]),
        Schema.Boolean,
        Schema.Literals(["owner", "superadmin", "admin", "billing", "archive"])
      ],
      ([chosen, granted, scopeType, withDepartment, role]) =>
        Effect.gen(function*() {
          const made = yield* makeAccounts()
          const { admins, id } = made.organization
          const admin = admins[role]
          const idOf = (at: number): string => made.accounts[at]!.id
          const departmentOf = (at: number): string => made.departments[at % 2]!
          const own = [...new Set(granted.map(idOf))]
          yield* World.grant(id, admin.id, { accounts: own })
          if (withDepartment) yield* World.grant(id, admin.id, { departments: [departmentOf(0)] })
          const everything = role !== "admin" && role !== "archive"
          const theirs = made.accounts.filter((account) =>
            everything || own.includes(account.id) || withDepartment && account.department_id === departmentOf(0)
          )
          const ids = scopeType === "departments"
            ? [...new Set(chosen.map(departmentOf))].filter((department) =>
              everything || withDepartment && department === departmentOf(0)
            )
            : [...new Set(chosen.map(idOf))].filter((account) => theirs.some((reached) => reached.id === account))
          const reached = theirs
            .filter(({ department_id, id }) =>
              scopeType === "all" || ids.includes(scopeType === "accounts" ? id : department_id ?? "")
            )
            .map((account): string => account.id)
          const token = yield* tokenOf(made, admin.id, scopeType, ids)
          const listed = yield* World.get("/v1/accounts?limit=100", token)
          expect(listed.body.data.map((account: { id: string }) => account.id).toSorted()).toEqual(reached.toSorted())
          for (const account of made.accounts) {
            const answer = yield* World.get(`/v1/accounts/${account.id}`, token)
            expect([account.id, answer.status]).toEqual([account.id, reached.includes(account.id) ? 200 : 404])
          }
          const journal = yield* World.get("/v1/journal?limit=100", token)
          for (const event of journal.body.data) {
            if (event.account_id !== null) expect(reached).toContain(event.account_id)
          }
        }),
      drawn(15)
    )
  })
})
