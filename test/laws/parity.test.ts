import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { Role, Scope } from "../../src/domain/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../../src/operations/index.ts"
import * as Mcp from "../mcp/support.ts"
import { pglite } from "../support/database.ts"
import { queryOf, requests } from "../support/requests.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

type Arguments = Readonly<Record<string, unknown>>

/** One input of an operation, by whom, and what has to be so before. */
interface Case {
  readonly title: string
  readonly args: Arguments
  readonly role?: Role
  readonly scopes?: ReadonlyArray<Scope>
  readonly key?: string
  readonly closed?: boolean
  readonly before?: ReturnType<typeof World.set> | Effect.Effect<void>
}

/** The request over HTTP that says the same as the arguments. */
const overHttp = (operation: Operation.Any, args: Arguments) => {
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => String(args[name]))
  const rest = Object.entries(args).filter(([name]) => !Object.hasOwn(operation.params, name))
  const inQuery = Object.keys(operation.body).length === 0
  const query = new URLSearchParams(inQuery ? rest.map(([name, value]): [string, string] => [name, String(value)]) : [])
    .toString()
  return {
    path: query === "" ? path : `${path}?${query}`,
    ...(inQuery ? {} : { body: Object.fromEntries(rest) })
  }
}

const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const closed = yield* World.makeOrganization({ closed_at: new Date(1_000) })
  const account = yield* World.makeLiveAccount(id)
  const sessionless = yield* World.makeAccount(id)
  const taken = `taken_${crypto.randomUUID().slice(0, 8)}`
  yield* World.makeLiveAccount(id, { username: taken })
  yield* World.put(`/v1/accounts/${account.id}/role-label`, admins.owner.key, { role_label: "First" })
  const nameless = yield* World.makePerson(id, "superadmin", { facts: { joined_at: null } })
  const [event] = yield* World.journal(id)
  yield* World.grant(id, admins.admin.id, { accounts: [account.id] })
  const { keyId } = yield* World.makePerson(id, "archive")
  const connectionId = crypto.randomUUID()
  yield* World.addRows("ai_connection", id, [{
    id: connectionId,
    admin_id: admins.superadmin.id,
    kind: "token",
    label: "Bridge",
    mode: "local",
    scopes: ["org:read"],
    scope_type: "accounts",
    created_at: new Date(1_000)
  }])
  return {
    id,
    admins,
    closed,
    keyId,
    connectionId,
    account: account.id,
    sessionless,
    taken,
    nameless,
    eventId: event!.id
  }
})

type Stage = Effect.Success<typeof stage>

/** The arguments of the operation that everybody who may call it gets an answer for. */
const goodArguments = (operation: Operation.Any, { account, connectionId, eventId, keyId }: Stage): Arguments => {
  const good = requests(account, eventId).find(({ id }) => id === operation.id)
  return {
    ...("account_id" in operation.params ? { account_id: account } : {}),
    ...("event_id" in operation.params ? { event_id: eventId } : {}),
    ...("api_key_id" in operation.params ? { api_key_id: keyId } : {}),
    ...("connection_id" in operation.params ? { connection_id: connectionId } : {}),
    ...(operation.id === "create_api_key" ? { label: "Nightly export", scopes: ["org:read"] } : {}),
    ...(good === undefined ? {} : queryOf(good)),
    ...(good?.body as object | undefined)
  }
}

/** A key is made anew by every call, and over MCP its secret is not told. */
const comparable = (operation: Operation.Any, body: any) => {
  if (operation.id !== "create_api_key" || body.error !== undefined) return body
  const { id, secret, ...same } = body
  expect([typeof id, secret === null || secret.startsWith("osc_live_")]).toEqual(["string", true])
  return same
}

const without = (args: Arguments, name: string): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([other]) => other !== name))

/** What an input may be like: good, bad, forbidden, missing, and in conflict with how things are. */
const cases = (operation: Operation.Any, made: Stage): ReadonlyArray<Case> => {
  const args = goodArguments(operation, made)
  const paused = (at: Date | null) => World.set(made.id, "account", made.account, { paused_at: at })
  const before = operation.id === "resume_protection"
    ? paused(new Date(2_000))
    : operation.id === "pause_protection"
    ? paused(null)
    : Effect.void
  const live = operation.kind === "live" || operation.kind === "change"
  const own: ReadonlyArray<Case> = [
    { title: "good", args, before },
    { title: "another member", args: { ...args, another: "1" }, before },
    { title: "a wrong key", args, key: "osc_live_wrong" },
    { title: "a closed organization", args, closed: true },
    { title: "a missing scope", args, scopes: Scope.literals.filter((scope) => scope !== operation.scope) },
    { title: "a missing scope and a bad input", args: { another: "1" }, scopes: [] },
    ...Role.literals.map((role): Case => ({ title: `as ${role}`, args, role, before })),
    ...Object.keys(operation.params).flatMap((name): ReadonlyArray<Case> => [
      { title: `${name} of nothing`, args: { ...args, [name]: crypto.randomUUID() } },
      { title: `${name} malformed`, args: { ...args, [name]: "not-an-id" } }
    ]),
    ...Object.keys(operation.query).map((name): Case => ({
      title: `${name} malformed`,
      args: { ...args, [name]: "?" }
    })),
    ...Object.keys(operation.body).flatMap((name): ReadonlyArray<Case> => [
      { title: `${name} of a wrong type`, args: { ...args, [name]: 7 }, before },
      { title: `${name} missing`, args: without(args, name), before },
      { title: `${name} too long or unknown`, args: { ...args, [name]: "x".repeat(200) }, before }
    ]),
    ...(live ? [{ title: "no session", args: { ...args, account_id: made.sessionless } }] : [])
  ]
  const conflicts: Readonly<Record<string, ReadonlyArray<Case>>> = {
    pause_protection: [{ title: "paused already", args, before: paused(new Date(2_000)) }],
    resume_protection: [{ title: "not paused", args, before: paused(null) }],
    set_messenger_username: [
      { title: "taken", args: { ...args, username: made.taken } },
      { title: "malformed", args: { ...args, username: "9" } }
    ],
    list_protected_accounts: [
      { title: "one page", args: { limit: 1 } },
      { title: "no such page", args: { limit: 1000 } },
      { title: "after nothing", args: { starting_after: crypto.randomUUID() } }
    ],
    list_journal_events: [{ title: "one page", args: { limit: 1 } }],
    tail_journal_events: [{ title: "one page", args: { after_sequence: 1, limit: 1 } }],
    find_accounts: [
      { title: "nobody", args: { query: "zzzz" } },
      { title: "no query", args: {} },
      { title: "too many", args: { query: "a", limit: 51 } }
    ]
  }
  return [...own, ...conflicts[operation.id] ?? []]
}

describe("REST and MCP", () => {
  layer(World.world(pglite))((it) => {
    for (const operation of all) {
      it.effect(
        `S4-18, S1-10: ${operation.id} answers the same both ways, whatever it is asked and by whom`,
        () =>
          Effect.gen(function*() {
            yield* TestClock.setTime(1_700_000_000_000)
            const made = yield* stage
            const found = new Set<string>()
            const credential = Effect.fnUntraced(function*({ closed, role = "superadmin", scopes }: Case) {
              const { admins, id } = closed === true ? made.closed : made
              return (yield* World.makeKey(id, admins[role].id, scopes)).key
            })
            const table = [
              ...cases(operation, made),
              ...(operation.failures.some(({ identifier }) => identifier === "mail_preferences_unavailable")
                ? [{ title: "no sign-in", args: goodArguments(operation, made), key: "nameless" }]
                : [])
            ]
            for (const one of table) {
              const key = one.key === "nameless" ? made.nameless.key : one.key ?? (yield* credential(one))
              yield* one.before ?? Effect.void
              const { path, ...request } = overHttp(operation, one.args)
              const rest = yield* World.send(operation.method, path, { key, ...request })
              yield* one.before ?? Effect.void
              const events = yield* World.journal(made.id)
              const tool = Mcp.told(yield* Mcp.call(operation.id, one.args, { key }))
              found.add(rest.body.error?.code ?? "done")
              const code = rest.body.error?.code
              // What is answered to a person alone is refused to an assistant, after everything that needs no password.
              const forPersons = operation.page !== undefined &&
                (code === undefined || /^(?:scope_exceeded|password_\w+)$/.test(code))
              if (forPersons) {
                expect([one.title, tool.how, tool.body.error.code]).toEqual([
                  one.title,
                  "failed",
                  "console_page_required"
                ])
                continue
              }
              const how = code === undefined ? "done" : code === "invalid_api_key" || code === "insufficient_scope"
                ? "refused"
                : "failed"
              expect([one.title, { ...tool, body: comparable(operation, tool.body) }]).toEqual([
                one.title,
                { status: how === "refused" ? rest.status : 200, how, body: comparable(operation, rest.body) }
              ])
              const fresh = (yield* World.journal(made.id)).slice(events.length)
              expect([one.title, fresh.filter(({ via }) => via !== "mcp")]).toEqual([one.title, []])
            }
            const expected = [
              "done",
              "invalid_api_key",
              "organization_closed",
              "insufficient_scope",
              "parameter_invalid",
              ...(operation.roles.length < Role.literals.length ? [operation.refusal.identifier] : []),
              ...(Object.keys(operation.params).length > 0 ? ["resource_missing"] : []),
              ...operation.failures.flatMap(({ identifier, status }) =>
                status === 409 && !/^messenger_|_purchasable$/.test(identifier) ? [identifier] : []
              )
            ]
            expect([...found].sort()).toEqual(expect.arrayContaining(expected.sort()))
          }),
        120_000
      )
    }
  })
})
