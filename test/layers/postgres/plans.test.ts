import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AccountId, DepartmentId } from "../../../src/domain/accounts/Account.ts"
import { AccountStatus } from "../../../src/domain/accounts/ProtectionStatus.ts"
import { JournalOutcome } from "../../../src/domain/journal/JournalEvent.ts"
import { Caller, OrganizationId, Role, superadmins } from "../../../src/domain/people/Access.ts"
import { AdminStatus } from "../../../src/domain/people/Admin.ts"
import { ReviewState } from "../../../src/domain/sessions/SessionReview.ts"
import * as Chain from "../../../src/layers/sql/journal/JournalChain.ts"
import { Accounts } from "../../../src/ports/accounts/Accounts.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import { Journal, type JournalQuery } from "../../../src/ports/journal/Journal.ts"
import { OAuthSecrets } from "../../../src/ports/oauth/OAuthPorts.ts"
import { LicenceStops } from "../../../src/ports/organization/LicenceStops.ts"
import { Organizations } from "../../../src/ports/organization/Organizations.ts"
import { Departments } from "../../../src/ports/people/Departments.ts"
import { type AdminsQuery, ManagedAdmins } from "../../../src/ports/people/ManagedAdmins.ts"
import { type SessionQuery, Sessions } from "../../../src/ports/sessions/Sessions.ts"
import * as Fixtures from "../../support/fixtures.ts"
import { crowded } from "../../support/postgres/crowd.ts"
import { big, filled, uniform, wide } from "../../support/postgres/largeOrganizations.ts"
import { accountsOver, callerOf, callers, idOf, limit, most, over, reading } from "../../support/postgres/pageCosts.ts"
import { plan, planOutside, rowsRead } from "../../support/postgres/plans.ts"
import { recording } from "../../support/postgres/statements.ts"
import * as World from "../../support/world.ts"

/** So many accounts are counted at most before a search. */
const counted = 5001

const lastAccount = (organizationId: string) =>
  Effect.map(
    World.query<{ id: string }>(organizationId, (sql) =>
      sql`select id from account where organization_id = ${organizationId} order by name_key desc, id desc limit 1`),
    ([row]) =>
      row?.id ?? ""
  )

const noFilter: JournalQuery = {
  beforeId: undefined,
  before: undefined,
  since: undefined,
  accountId: undefined,
  adminId: undefined,
  action: undefined,
  outcome: undefined,
  credentialId: undefined,
  limit
}

/** What of a query is a place in the journal, and no filter. */
const places = new Set(["beforeId", "before", "since"])

describe("rows read for a page", () => {
  layer(World.core(Layer.orDie(filled)), { timeout: "2 minutes" })((it) => {
    it.effect(
      "departments: the counts of their accounts cost no more than a page, for every caller",
      () =>
        Effect.gen(function*() {
          const departments = yield* Departments
          const page: { readonly after: DepartmentId | undefined; readonly limit: number } = {
            after: undefined,
            limit: 20
          }
          const found = yield* Effect.forEach(yield* callers(big.id), (caller) =>
            over(caller, page, (asked) =>
              departments.list(caller, asked), (last) => ({
                ...page,
                after: DepartmentId.make(last)
              })))
          expect(found.flat()).toEqual([])
        }),
      60_000
    )

    it.effect("admins: at most 20 times the limit, however many credentials each has had, and each admin once", () =>
      Effect.gen(function*() {
        const people = yield* ManagedAdmins
        const now = new Date()
        const caller = yield* callerOf(big.id, "owner", null)
        const filters: ReadonlyArray<Partial<AdminsQuery>> = [
          {},
          ...Role.literals.map((role) => ({ role })),
          ...AdminStatus.literals.map((status) => ({ status }))
        ]
        const found = yield* Effect.forEach(filters, (filter) => {
          const query: AdminsQuery = { role: undefined, status: undefined, after: undefined, limit, ...filter }
          // A plan for all values looks at each admin once, as one with a filter does.
          return over(caller, query, (asked) => people.list(caller, asked, now), (after) => ({ ...query, after }), {
            rows: most + crowded
          })
        })
        expect(found.flat()).toEqual([])
      }))

    it.effect("accounts: at most 20 times the limit, for every caller, filter, status and cursor", () =>
      Effect.gen(function*() {
        const now = new Date()
        const department = DepartmentId.make(yield* idOf("department", big.id, 1))
        const end = AccountId.make(yield* lastAccount(big.id))
        const found = yield* Effect.forEach(yield* callers(big.id), (caller) =>
          Effect.forEach([
            {},
            { departmentId: department },
            ...AccountStatus.literals.flatMap((status) => [{ status }, { status, departmentId: department }]),
            ...(caller.role === "owner" && caller.limit === null ? [{ after: end }] : [])
          ], (filter) => accountsOver(caller, filter, now)))
        expect(found.flat(2)).toEqual([])
      }))

    it.effect("accounts: at most 20 times the limit, in a department of thousands with single accounts granted in it", () =>
      Effect.gen(function*() {
        const now = new Date()
        const departmentId = DepartmentId.make(yield* idOf("department", wide.id, 1))
        const found = yield* Effect.forEach(yield* callers(wide.id), (caller) =>
          Effect.forEach(
            [{ departmentId }, { departmentId, status: "protected" as const }],
            (filter) => accountsOver(caller, filter, now)
          ))
        expect(found.flat(2)).toEqual([])
      }))

    it.effect("a search that finds one account: few rows beside those that are counted first, for every caller", () =>
      Effect.gen(function*() {
        const accounts = yield* Accounts
        const account = yield* idOf("account", wide.id, 1)
        const [named] = yield* World.query<{ name: string }>(
          wide.id,
          (sql) => sql`select last_name as name from account where organization_id = ${wide.id} and id = ${account}`
        )
        const found = yield* Effect.forEach(yield* callers(wide.id), (caller) =>
          Effect.gen(function*() {
            const { answer, blocks, custom, generic } = yield* reading(
              wide.id,
              accounts.search(caller, named?.name ?? "", 20)
            )
            expect(answer.map(({ id }) => id)).toEqual([account])
            return [custom, generic, blocks]
          }))
        expect(Math.max(...found.flat())).toBeLessThan(counted + most)
      }))

    it.effect("accounts: at most 20 times the limit, where everybody has one status and nobody any other", () =>
      Effect.gen(function*() {
        const now = new Date()
        const found = yield* Effect.forEach(uniform, ({ id }) =>
          Effect.gen(function*() {
            const some = [yield* callerOf(id, "owner", null), yield* callerOf(id, "admin", null)]
            return yield* Effect.forEach(some, (caller) =>
              Effect.forEach(AccountStatus.literals, (status) => accountsOver(caller, { status }, now)))
          }))
        expect(found.flat(3)).toEqual([])
      }))

    it.effect("sessions: at most 20 times the limit, for every caller who may list them, and every review", () =>
      Effect.gen(function*() {
        const sessions = yield* Sessions
        const account = AccountId.make(yield* idOf("account", big.id, 1))
        const found = yield* Effect.forEach(
          (yield* callers(big.id)).filter(({ role }) => role !== "billing"),
          (caller) =>
            Effect.forEach(
              [
                ...[undefined, ...ReviewState.literals].map((review) => ({ review, accountId: undefined })),
                { review: undefined, accountId: account }
              ],
              (filter) => {
                const query: SessionQuery = { ...filter, after: undefined, limit }
                return over(
                  caller,
                  query,
                  (asked) =>
                    Effect.map(
                      sessions.list(caller, asked),
                      (rows) => rows?.map((row) => ({ id: row.record_id })) ?? null
                    ),
                  (after) => ({ ...query, after })
                )
              }
            )
        )
        expect(found.flat(2)).toEqual([])
      }))

    it.effect("journal: at most 20 times the limit, or what the caller may see where that is narrow and filtered", () =>
      Effect.gen(function*() {
        const journal = yield* Journal
        const middle = yield* idOf("event", big.id, big.events / 2)
        const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
        const filters: ReadonlyArray<Partial<JournalQuery>> = [
          {},
          { beforeId: middle },
          { before: hoursAgo(7) },
          { before: hoursAgo(1000) },
          { since: hoursAgo(7) },
          { since: hoursAgo(-1) },
          { since: hoursAgo(7), before: hoursAgo(6) },
          ...yield* Effect.forEach(
            [1, 2, 5000],
            (n) => Effect.map(idOf("account", big.id, n), (accountId) => ({ accountId }))
          ),
          ...yield* Effect.forEach(
            ["owner", "admin", "billing", "nobody"],
            (role) => Effect.map(idOf("admin", big.id, role), (adminId) => ({ adminId }))
          ),
          ...yield* Effect.forEach(
            ["owner", "nobody"],
            (role) => Effect.map(idOf("key", big.id, role), (credentialId) => ({ credentialId }))
          ),
          ...["account.paused", "account.*", "organization.*", "organization.closed", "nothing.*", "nothing.done"].map((
            action
          ) => ({ action })),
          ...JournalOutcome.literals.map((outcome) => ({ outcome }))
        ]
        const found = yield* Effect.forEach(yield* callers(big.id), (caller) =>
          Effect.gen(function*() {
            const list = (query: JournalQuery) =>
              Effect.map(journal.list(caller, query), (found) => found?.events ?? null)
            const everything = superadmins.includes(caller.role) && caller.limit === null
            const visible = everything
              ? 0
              : (yield* Fixtures.within(big.id, list({ ...noFilter, limit: big.events })))?.length ?? 0
            return yield* Effect.forEach(filters, (filter) => {
              const query: JournalQuery = { ...noFilter, ...filter }
              const names = Object.keys(filter)
              return over(caller, query, list, (last) => ({ ...query, beforeId: last }), {
                // A filtered event is read beside the place by which its department finds it.
                rows: names.every((name) => places.has(name)) ? most : most + 2 * visible,
                blocks: most + 4 * visible,
                // Any other is planned afresh each time.
                prepared: names.every((name) => name === "beforeId")
              })
            })
          }))
        expect(found.flat(2)).toEqual([])
      }))

    it.effect("journal: of a limited access the events without an account are found by each filter", () =>
      Effect.gen(function*() {
        const journal = yield* Journal
        const connectionId = yield* idOf("connection", big.id, "filed")
        const caller = yield* callerOf(big.id, "owner", { scopeType: "departments", connectionId })
        const placed = (filter: string) =>
          Effect.map(
            World.query<{ count: number }>(big.id, (sql) =>
              sql`select count(*)::int as count from journal_place join journal_event using (organization_id, sequence)
              where organization_id = ${big.id} and ${sql.literal(filter)} and department_id in (
                select department_id from ai_connection_department
                where organization_id = ${big.id} and connection_id = ${connectionId})`),
            ([row]) =>
              row?.count ?? 0
          )
        const all = yield* placed("true")
        const credentialId = yield* idOf("key", big.id, "owner")
        const filters: ReadonlyArray<readonly [Partial<JournalQuery>, string]> = [
          [{ action: "account.paused" }, "action = 'account.paused'"],
          [{ action: "account.*" }, "object = 'account'"],
          [{ outcome: "failed" }, "outcome = 'failed'"],
          [{ credentialId }, `credential_id = '${credentialId}'`]
        ]
        const found = yield* Effect.forEach(filters, ([filter, condition]) =>
          Effect.gen(function*() {
            const { custom } = yield* reading(big.id, journal.list(caller, { ...noFilter, ...filter }))
            return [filter, custom <= all + (yield* placed(condition)) + 6 * limit]
          }))
        expect(found).toEqual(filters.map(([filter]) => [filter, true]))
      }))

    it.effect("the rest of a journal: one row tells whether there is any", () =>
      Effect.gen(function*() {
        const beginning = Chain.beginning(big.id)
        const { said } = yield* recording(Chain.lastPage(OrganizationId.make(big.id), beginning))
        const [asked] = said.filter(({ sql }) => sql.startsWith("select 1 from journal_event"))
        expect(rowsRead(yield* plan(big.id, asked!, "for all values"))).toBe(1)
      }))

    it.effect("the licences: one account of an organization tells whether any is to be stopped", () =>
      Effect.gen(function*() {
        const { said: [asked] } = yield* recording((yield* LicenceStops).organizations)
        const { accounts } = uniform[0]!
        // All accounts of one organization are offboarded.
        expect(rowsRead(yield* planOutside("select 1", asked!))).toBeLessThan(2 * accounts)
      }))

    it.effect("a token: a few rows, with 3,000 accounts chosen as with one, and so for one of the accounts", () =>
      Effect.gen(function*() {
        const credentials = yield* Credentials
        const accounts = yield* Accounts
        const secrets = yield* OAuthSecrets
        const account = yield* idOf("account", big.id, 1)
        const tokens = yield* Effect.forEach(["one", "many"], (name) =>
          Effect.gen(function*() {
            const token = yield* secrets.make("access")
            const row = {
              organization_id: big.id,
              ...secrets.digest(token),
              connection_id: yield* idOf("connection", big.id, name),
              kind: "access",
              scopes: ["org:read"],
              created_at: new Date(),
              expires_at: new Date(4_000_000_000_000)
            }
            yield* World.query(big.id, (sql) => sql`insert into oauth_token ${sql.insert(row)} returning digest`)
            return token
          }))
        const found = yield* Effect.forEach(tokens, (token) =>
          Effect.gen(function*() {
            const { answer, said } = yield* recording(credentials.authenticate(token, "https://console.test/v1"))
            const plans = yield* Effect.forEach(said, (statement) => plan(big.id, statement))
            const caller = Caller.of({ ...answer, via: "rest", ip: null, requestId: null })
            const read = yield* reading(big.id, accounts.find(caller, AccountId.make(account), false))
            expect(read.answer?.id).toBe(account)
            return [plans.reduce((total, one) => total + rowsRead(one), 0), read.custom, read.generic]
          }))
        expect(Math.max(...found.flat())).toBeLessThan(100)
      }))

    it.effect("the organization: a few rows, however many accounts take a seat", () =>
      Effect.gen(function*() {
        const organizations = yield* Organizations
        const { answer, custom, generic } = yield* reading(
          big.id,
          organizations.facts({ organizationId: OrganizationId.make(big.id) })
        )
        expect(answer.seats_used).toBe(18_400)
        expect(Math.max(custom, generic)).toBeLessThan(20)
      }))
  })
})
