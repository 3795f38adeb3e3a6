/** What a page of a list costs the database: the rows that its statements read, and the blocks they look at. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import type { Caller, Role } from "../../../src/domain/people/Access.ts"
import { type AccessLimit, OrganizationId } from "../../../src/domain/people/Access.ts"
import { type AccountQuery, Accounts } from "../../../src/ports/accounts/Accounts.ts"
import * as Fixtures from "../fixtures.ts"
import { idOf as idIn } from "./fill.ts"
import { blocksRead, plan, rowsRead } from "./plans.ts"
import { recording } from "./statements.ts"

export const limit = 50
export const most = 20 * limit

/** The id of the organization's nth thing of a kind. */
export const idOf = (kind: string, organizationId: string, n: number | string) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      Effect.orDie(sql.unsafe<{ id: string }>(`select ${idIn(kind, organizationId, `'${n}'`)} as id`)),
      ([row]) => row?.id ?? ""
    )
  )

export const callerOf = Effect.fnUntraced(function*(organizationId: string, role: Role, limited: AccessLimit | null) {
  const made: Caller["Service"] = {
    organizationId: OrganizationId.make(organizationId),
    organizationClosed: false,
    adminId: yield* idOf("admin", organizationId, role),
    adminName: null,
    role,
    readsArchive: true,
    scopes: [],
    limit: limited,
    credential: { kind: "api_key", id: "", label: "" },
    via: "embedded",
    ip: null,
    requestId: null
  }
  return made
})

/** Everybody that a page is found differently for, by themselves and through an application's limited access. */
export const callers = Effect.fnUntraced(function*(organizationId: string) {
  const limits: ReadonlyArray<AccessLimit | null> = [
    null,
    { scopeType: "all", connectionId: yield* idOf("connection", organizationId, "some") },
    { scopeType: "accounts", connectionId: yield* idOf("connection", organizationId, "some") },
    { scopeType: "departments", connectionId: yield* idOf("connection", organizationId, "filed") }
  ]
  return yield* Effect.forEach(
    (["owner", "admin", "billing"] as const).flatMap((role) => limits.map((limited) => [role, limited] as const)),
    ([role, limited]) => callerOf(organizationId, role, limited)
  )
})

/**
 * The rows read by the statements of the effect together, by plans for their values and by those for all values, and
 * the blocks that either looked at.
 */
export const reading = Effect.fnUntraced(function*<A, R>(organizationId: string, effect: Effect.Effect<A, never, R>) {
  const { answer, said } = yield* recording(Effect.orDie(Fixtures.within(organizationId, effect)))
  const statements = said.filter(({ sql }) => !sql.startsWith("select set_config"))
  const sum = (made: "for these values" | "for all values") =>
    Effect.map(
      Effect.forEach(statements, (statement) => plan(organizationId, statement, made)),
      (plans) => ({
        rows: plans.reduce((total, one) => total + rowsRead(one), 0),
        blocks: plans.reduce((total, one) => total + blocksRead(one), 0)
      })
    )
  const custom = yield* sum("for these values")
  const generic = yield* sum("for all values")
  return { answer, custom: custom.rows, generic: generic.rows, blocks: Math.max(custom.blocks, generic.blocks) }
})

const describeCaller = ({ limit: limited, role }: Caller["Service"]) =>
  limited === null ? role : `${role}, limited to ${limited.scopeType}`

/** Reads the page and the one after it, and answers what read more rows than it may. */
export const over = Effect.fnUntraced(function*<A extends { readonly id: string }, Q, R>(
  caller: Caller["Service"],
  query: Q,
  list: (query: Q) => Effect.Effect<ReadonlyArray<A> | null, never, R>,
  after: (last: string) => Q,
  bound: { readonly rows: number; readonly blocks?: number; readonly prepared?: boolean } = { rows: most }
) {
  const first = yield* reading(caller.organizationId, list(query))
  const last = first.answer?.at(-2)
  const pages = last === undefined ? [first] : [first, yield* reading(caller.organizationId, list(after(last.id)))]
  return pages.flatMap(({ blocks, custom, generic }, page) =>
    (bound.prepared === false ? custom : Math.max(custom, generic)) > bound.rows ||
      blocks > (bound.blocks ?? bound.rows)
      ? [{ who: describeCaller(caller), ...query, page, custom, generic, blocks }]
      : []
  )
})

export const accountsOver = (caller: Caller["Service"], filter: Partial<AccountQuery>, now: Date) =>
  Effect.flatMap(Accounts, (accounts) => {
    const query: AccountQuery = { status: undefined, departmentId: undefined, after: undefined, limit, ...filter }
    return over(
      caller,
      query,
      (asked) => accounts.list(caller, asked, now),
      (last) => ({ ...query, after: AccountId.make(last) }),
      // The archive of each account is found by its id: three blocks of the index, and one of the table.
      { rows: most, blocks: most + 4 * (limit + 1) }
    )
  })
