/** What is asked of the servers: one list of requests per connection, which cycles through keys and accounts. */
import type { Fixture, Tenant } from "./fixture.ts"

export interface Asked {
  readonly method: "GET" | "PUT" | "POST"
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** What asks with the key, about the account; `turn` differs between any two requests about one account. */
type Ask = (key: string, account: string, turn: string) => Asked

const authorization = (key: string) => ({ authorization: `Bearer ${key}` })

const get = (path: (account: string) => string): Ask => (key, account) => ({
  method: "GET",
  path: path(account),
  headers: authorization(key)
})

const setRoleLabel: Ask = (key, account, turn) => ({
  method: "PUT",
  path: `/v1/accounts/${account}/role-label`,
  headers: { ...authorization(key), "content-type": "application/json" },
  body: JSON.stringify({ role_label: `Label ${turn}` })
})

const callTool = (name: string, input: object): Ask => (key) => ({
  method: "POST",
  path: "/mcp",
  headers: {
    ...authorization(key),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18"
  },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } })
})

export interface Workload {
  readonly title: string
  readonly ask: Ask
  readonly kind: "read" | "write"
  /** The API where it is left out. */
  readonly over?: "mcp"
  /** The credentials that ask; the owner's keys where it is left out. */
  readonly as?: "keys" | "adminKeys" | "tokens"
  /** The floor answers it too. */
  readonly floor?: boolean
  /** Asked of the service alone, beside its own plain list. */
  readonly variant?: boolean
}

export const workloads = {
  list: {
    title: "list of 50 accounts",
    kind: "read",
    floor: true,
    ask: get(() => "/v1/accounts?limit=50")
  },
  organization: { title: "organization", kind: "read", floor: true, ask: get(() => "/v1/organization") },
  account: { title: "account", kind: "read", floor: true, ask: get((account) => `/v1/accounts/${account}`) },
  label: { title: "role label", kind: "write", ask: setRoleLabel },
  tool_list: {
    title: "tools/call, list of 50",
    kind: "read",
    over: "mcp",
    ask: callTool("list_protected_accounts", { limit: 50 })
  },
  tool_organization: {
    title: "tools/call, organization",
    kind: "read",
    over: "mcp",
    ask: callTool("get_organization", {})
  },
  list_status: {
    title: "list with a status filter",
    kind: "read",
    variant: true,
    ask: get(() => "/v1/accounts?limit=50&status=protected")
  },
  list_after: {
    title: "list with starting_after",
    kind: "read",
    variant: true,
    ask: get((account) => `/v1/accounts?limit=50&starting_after=${account}`)
  },
  list_admin: {
    title: "list as a granted admin",
    kind: "read",
    variant: true,
    as: "adminKeys",
    ask: get(() => "/v1/accounts?limit=50")
  },
  list_token: {
    title: "list with an application's token",
    kind: "read",
    variant: true,
    as: "tokens",
    ask: get(() => "/v1/accounts?limit=50")
  }
} as const satisfies Record<string, Workload>

export type WorkloadName = keyof typeof workloads

export const workloadNames = Object.keys(workloads) as ReadonlyArray<WorkloadName>

export const workload = (name: WorkloadName): Workload => workloads[name]

export const isWorkload = (name: string): name is WorkloadName => Object.hasOwn(workloads, name)

/** Every account twice, with the credentials in turn; `slot` makes what is written new in every slot. */
const cycle = (ask: Ask, accounts: ReadonlyArray<string>, keys: ReadonlyArray<string>, slot: number): Array<Asked> =>
  Array.from(
    { length: accounts.length * 2 },
    (_, index) =>
      ask(
        keys[index % keys.length] ?? "",
        accounts[index % accounts.length] ?? "",
        `${slot}.${Math.floor(index / accounts.length)}`
      )
  )

/** The requests of one of the connections; with `alone` they are about the first organization. */
export const requestsOf = (
  name: WorkloadName,
  { organizations }: Fixture,
  connection: number,
  connections: number,
  slot: number,
  alone = false
): Array<Asked> => {
  const { as = "keys", ask }: Workload = workloads[name]
  const one: Tenant | undefined = organizations[alone ? 0 : connection % organizations.length]
  if (one === undefined) throw new Error("There is no organization to ask")
  const sharing = alone ? connections : Math.ceil(connections / organizations.length)
  const place = alone ? connection : Math.floor(connection / organizations.length)
  // Connections that share an organization share out its accounts and keys, so that no two write the same label.
  const mine = (all: ReadonlyArray<string>) => all.filter((_, index) => index % sharing === place)
  return cycle(ask, mine(one.accounts), mine(one[as]), slot)
}
