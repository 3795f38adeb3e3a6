/** The same requests to the service and to the peer: they have to answer alike, refusals too. */
import * as crypto from "node:crypto"
import type { Tenant } from "./fixture.ts"
import type { Step, Strangers } from "./strangers.ts"

interface Case {
  readonly title: string
  readonly path: string
  readonly method?: "PUT" | "POST"
  readonly key?: string
  readonly body?: string
  readonly type?: string
  /** Done before each of the two is asked. */
  readonly before?: Step
}

const labelOf = (title: string, account: string, key: string, body: string, type?: string): Case => ({
  title,
  method: "PUT",
  path: `/v1/accounts/${account}/role-label`,
  key,
  body,
  ...(type === undefined ? {} : { type })
})

const statuses = ["protected", "new_sign_in", "paused", "available", "status_unknown", "recently_connected", "none"]

const reads = (name: string, key: string, accounts: ReadonlyArray<string>): ReadonlyArray<Case> => [
  { title: `${name} reads the organization`, path: "/v1/organization", key },
  { title: `${name} lists accounts`, path: "/v1/accounts", key },
  { title: `${name} lists 100 accounts`, path: "/v1/accounts?limit=100", key },
  { title: `${name} lists one account`, path: "/v1/accounts?limit=1", key },
  ...statuses.map((status) => ({
    title: `${name} lists accounts that are ${status}`,
    path: `/v1/accounts?limit=5&status=${status}`,
    key
  })),
  ...[0, 5, 11].map((index) => ({
    title: `${name} lists what follows account ${index}`,
    path: `/v1/accounts?limit=7&starting_after=${accounts[index]}`,
    key
  })),
  {
    title: `${name} lists protected accounts after one`,
    path: `/v1/accounts?limit=7&status=protected&starting_after=${accounts[3]}`,
    key
  },
  { title: `${name} lists what follows the last`, path: `/v1/accounts?starting_after=${accounts.at(-1)}`, key },
  { title: `${name} lists what follows nobody`, path: `/v1/accounts?starting_after=${crypto.randomUUID()}`, key },
  { title: `${name} lists a department`, path: `/v1/accounts?department_id=${crypto.randomUUID()}`, key },
  ...accounts.slice(0, 12).map((id, index) => ({
    title: `${name} reads account ${index}`,
    path: `/v1/accounts/${id}`,
    key
  }))
]

const labels = ["\"Before\"", "\"A label\"", "\" Ren\\u0065\\u0301 \"", "\"\"", "null"]

/** Each finds the label `Before`, so that both write an entry where the service does. */
const writes = (account: string, owner: string, admin: string, before: Step): ReadonlyArray<Case> =>
  [owner, admin].flatMap((key) =>
    labels.map((label) => ({
      ...labelOf(`${key === owner ? "the owner" : "the admin"} sets ${label}`, account, key, `{"role_label":${label}}`),
      before
    }))
  )

const credentials = (account: string, strangers: Strangers): ReadonlyArray<Case> => [
  { title: "no key", path: "/v1/organization" },
  { title: "no key in form", path: "/v1/organization", key: "osc_live_nothing" },
  { title: "a wrong checksum", path: "/v1/organization", key: `${strangers.unknown.slice(0, -1)}-` },
  { title: "an unknown key", path: "/v1/organization", key: strangers.unknown },
  { title: "a revoked key", path: "/v1/organization", key: strangers.revoked },
  { title: "an expired key", path: "/v1/organization", key: strangers.expired },
  { title: "a closed organization", path: "/v1/accounts", key: strangers.closed },
  { title: "a spent budget", path: "/v1/organization", key: strangers.exhausted, before: "exhaust" },
  labelOf("a missing scope", account, strangers.reading, "{}"),
  labelOf("a role that may not", account, strangers.billing, "{}")
]

const inputs = (account: string, key: string): ReadonlyArray<Case> => [
  ...["limit=0", "limit=101", "limit=many", "limit=1.5", "limit=", "limit=1&limit=2", "offset=1"].map((query) => ({
    title: query,
    path: `/v1/accounts?${query}`,
    key
  })),
  { title: "a malformed id", path: "/v1/accounts/none", key },
  ...["{\"role_label\":7}", "{}", "{\"role_label\":null,\"other\":1}", "{\"role_label\":null,\"role_label\":\"x\"}"]
    .concat([`{"role_label":"${"x".repeat(61)}"}`, "{\"role_label\":\"\\u0000\"}", "{", ""])
    .map((body) => labelOf(`the body ${body.slice(0, 40)}`, account, key, body)),
  labelOf("another content type", account, key, "{\"role_label\":null}", "text/plain")
]

const missing = (owner: string, admin: string, { foreign, ungranted }: Strangers): ReadonlyArray<Case> => [
  { title: "no such account", path: `/v1/accounts/${crypto.randomUUID()}`, key: owner },
  { title: "another organization's account", path: `/v1/accounts/${foreign}`, key: owner },
  { title: "an account that was not granted", path: `/v1/accounts/${ungranted}`, key: admin },
  labelOf("the label of one that was not granted", ungranted, admin, "{\"role_label\":null}"),
  { title: "no such address", path: "/v1/nothing", key: owner }
]

const tools = (account: string, key: string, { exhausted, unknown }: Strangers): ReadonlyArray<Case> => {
  const call = (title: string, name: string, input: object, as = key): Case => ({
    title: `tools/call: ${title}`,
    method: "POST",
    path: "/mcp",
    key: as,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } })
  })
  return [
    call("a page", "list_protected_accounts", { limit: 5 }),
    call("a filtered page", "list_protected_accounts", { limit: 5, status: "paused" }),
    call("the organization", "get_organization", {}),
    { ...call("a label", "set_account_role_label", { account_id: account, role_label: "Told" }), before: "relabel" },
    call("an account", "get_account", { account_id: account }),
    call("no such account", "get_account", { account_id: crypto.randomUUID() }),
    call("a wrong argument", "list_protected_accounts", { limit: 0 }),
    call("an unknown key", "list_protected_accounts", {}, unknown),
    { ...call("a spent budget", "list_protected_accounts", {}, exhausted), before: "exhaust" }
  ]
}

/** Every case, for the first organization of a fixture. */
export const casesFor = ({ accounts, adminKeys, keys }: Tenant, strangers: Strangers): ReadonlyArray<Case> => {
  const [owner = ""] = keys
  const [admin = ""] = adminKeys
  const [account = ""] = accounts
  return [
    ...reads("the owner", owner, accounts),
    ...reads("the admin", admin, accounts),
    ...writes(account, owner, admin, "relabel"),
    ...credentials(account, strangers),
    ...inputs(account, owner),
    ...missing(owner, admin, strangers),
    ...tools(account, owner, strangers)
  ]
}

const unlike = ["date", "connection", "keep-alive", "content-length", "transfer-encoding", "content-type"]
const named = ["request-id", "ratelimit-remaining", "ratelimit-reset", "retry-after"]

/** What is compared: headers by name where their values are the request's own; sentences about inputs are free. */
const comparable = (address: string, status: number, headers: Headers, text: string) => {
  const json = JSON.parse(
    headers.get("content-type")?.startsWith("text/event-stream") ? text.split("data: ")[1] ?? "" : text
  )
  if (json.error?.code === "parameter_invalid") delete json.error.message
  if (json.error?.code === "rate_limited" || json.error?.code === "resource_missing") delete json.error.message
  for (const content of json.result?.content ?? []) {
    // How a result reads is each server's own: what it holds stands beside the text, and a failure is its JSON.
    content.text = json.result.structuredContent === undefined ? JSON.parse(content.text) : undefined
    if (content.text?.error?.code === "parameter_invalid") delete content.text.error.message
  }
  const shown = [...headers]
    .filter(([name]) => !unlike.includes(name))
    .map(([name, value]) => named.includes(name) ? [name, ""] : [name, value.replaceAll(address, "{base_url}")])
  return { status, headers: Object.fromEntries(shown), json }
}

const ask = async ({ address, prepare }: Side, { before, body, key, method, path, type }: Case) => {
  if (before !== undefined) await prepare(before)
  const response = await fetch(new URL(path, address), {
    method: method ?? "GET",
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": type ?? "application/json" }),
      ...(path === "/mcp" ? { accept: "application/json, text/event-stream" } : {})
    },
    ...(body === undefined ? {} : { body })
  })
  return comparable(address, response.status, response.headers, await response.text())
}

/** An object's members in one order, so that answers can be compared as texts. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([name, of]) => [name, sorted(of)])
    )
    : value

const write = (value: unknown) => JSON.stringify(sorted(value))

/** One of the two, and how a step is done in its database. */
export interface Side {
  readonly address: string
  readonly prepare: (step: Step) => Promise<void>
}

/** What the two answer differently; nothing where they are alike. */
export const differences = async (
  service: Side,
  peer: Side,
  cases: ReadonlyArray<Case>
): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const each of cases) {
    const ours = write(await ask(service, each))
    const theirs = write(await ask(peer, each))
    if (ours !== theirs) found.push(`${each.title}\n  the service: ${ours}\n  the peer:    ${theirs}`)
  }
  return found
}
