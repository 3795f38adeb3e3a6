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

const callTool = (name: string, input: (account: string) => object): Ask => (key, account) => ({
  method: "POST",
  path: "/mcp",
  headers: {
    ...authorization(key),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18"
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: input(account) }
  })
})

export interface Workload {
  readonly title: string
  readonly ask: Ask
  readonly kind: "read" | "write" | "mcp"
  /** Every connection asks the one organization; otherwise each asks one of its own. */
  readonly oneOrganization?: boolean
}

export const workloads = {
  get_organization: { title: "get_organization", kind: "read", ask: get(() => "/v1/organization") },
  list_protected_accounts: {
    title: "list_protected_accounts, limit=50",
    kind: "read",
    ask: get(() => "/v1/accounts?limit=50")
  },
  get_account: { title: "get_account", kind: "read", ask: get((account) => `/v1/accounts/${account}`) },
  set_account_role_label: { title: "set_account_role_label, 16 organizations", kind: "write", ask: setRoleLabel },
  set_in_one_organization: {
    title: "set_account_role_label, one organization",
    kind: "write",
    ask: setRoleLabel,
    oneOrganization: true
  },
  tools_call: {
    title: "tools/call list_protected_accounts, limit=50",
    kind: "mcp",
    ask: callTool("list_protected_accounts", () => ({ limit: 50 }))
  }
} as const satisfies Record<string, Workload>

export type WorkloadName = keyof typeof workloads

export const workloadNames = Object.keys(workloads) as ReadonlyArray<WorkloadName>

export const isWorkload = (name: string): name is WorkloadName => Object.hasOwn(workloads, name)

/** Every account of the organization twice, with its keys in turn; `slot` makes what is written new in every slot. */
const cycle = (ask: Ask, { accounts, keys }: Tenant, slot: number): Array<Asked> =>
  Array.from(
    { length: accounts.length * 2 },
    (_, index) =>
      ask(
        keys[index % keys.length] ?? "",
        accounts[index % accounts.length] ?? "",
        `${slot}.${Math.floor(index / accounts.length)}`
      )
  )

/** The requests of one of the connections; with `alone` they are about the first organization, whatever the workload. */
export const requestsOf = (
  name: WorkloadName,
  fixture: Fixture,
  connection: number,
  connections: number,
  slot: number,
  alone = false
): Array<Asked> => {
  const workload: Workload = workloads[name]
  const shared = alone || workload.oneOrganization === true
  const { organizations } = fixture
  const one = organizations[shared ? 0 : connection % organizations.length]
  if (one === undefined) throw new Error("There is no organization to ask")
  const sharing = shared ? connections : Math.ceil(connections / organizations.length)
  if (sharing === 1) return cycle(workload.ask, one, slot)
  // Connections that share an organization share out its accounts and keys, so that no two write the same label.
  const place = shared ? connection : Math.floor(connection / organizations.length)
  const mine = <A>(all: ReadonlyArray<A>) => all.filter((_, index) => index % sharing === place)
  return cycle(workload.ask, { ...one, accounts: mine(one.accounts), keys: mine(one.keys) }, slot)
}
