/** An organization with something of everything, so that a test can look for what should not be found. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import * as Archives from "./archive/archives.ts"
import { makeCleanup, makeHold } from "./archive/cleanups.ts"
import { makeExport } from "./archive/exports.ts"
import { makeRule } from "./archive/rules.ts"
import type { Ids } from "./random.ts"
import * as World from "./world.ts"

/** What a populated organization consists of. */
export interface Populated extends World.Organization {
  /** Two people on the messenger with a session of the service. */
  readonly live: ReadonlyArray<Effect.Success<ReturnType<typeof World.makeLiveAccount>>>
  /** The accounts that the roles admin and archive reach. */
  readonly granted: ReadonlyArray<string>
  readonly ids: Ids
}

/** Makes it; every text of it carries the organization's id. */
export const make = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  const organization = yield* World.makeOrganization(facts)
  const { admins, id } = organization
  const departments = [yield* World.makeDepartment(id, `A ${id}`), yield* World.makeDepartment(id, `B ${id}`)]
  const text = (what: string) => `${what} ${id}`
  const live = [
    yield* World.makeLiveAccount(id, { first_name: text("Ada").slice(0, 60), last_name: "Live" }),
    yield* World.makeLiveAccount(id, { first_name: text("Ben").slice(0, 60), last_name: "Live" })
  ]
  const still = yield* Effect.forEach([
    { facts: { paused_at: new Date(0), role_label: text("Label").slice(0, 60), department_id: departments[0] } },
    { facts: { offboarded_at: new Date(0), department_id: departments[1] } },
    { facts: { stopped_at: new Date(0), stop_reason: "session_lost", recovery: { note: text("Recovery") } } },
    { facts: { department_id: departments[0] } }
  ], (options, index) => World.makeAccount(id, { first_name: text(`Person ${index}`), ...options }))
  const accounts = [...live.map((account) => account.id), ...still]
  const [first, second, third] = accounts
  yield* World.addRows("session", id, [
    { account_id: first, id: "1", service: true, current: true, device_model: text("Server"), seen_at: new Date(0) },
    { account_id: first, id: "2", device_model: text("Phone"), review_deadline: new Date(9e12), seen_at: new Date(0) },
    { account_id: second, id: "4", baseline: true, device_model: text("Watch"), seen_at: new Date(0) },
    { account_id: second, id: "5", approved_at: new Date(0), device_model: text("Laptop"), seen_at: new Date(0) }
  ])
  yield* World.addRows("termination", id, [
    { account_id: first, session_id: "3", device_label: text("Tablet"), detected_at: new Date(0), actor: "external" }
  ])
  yield* World.addRows("sign_up_link", id, [{ id: crypto.randomUUID(), created_at: new Date(0) }])
  const connection = crypto.randomUUID()
  const spare = yield* World.makeKey(id, admins.admin.id, ["org:read"], { label: text("Spare").slice(0, 60) })
  yield* World.addRows("ai_connection", id, [
    {
      id: connection,
      admin_id: admins.admin.id,
      kind: "token",
      label: text("Token"),
      mode: "cloud",
      scopes: ["org:read"],
      scope_type: "accounts",
      created_at: new Date(0)
    }
  ])
  for (const role of ["admin", "archive"] as const) {
    yield* World.grant(id, admins[role].id, {
      accounts: [first, third].filter((account) => account !== undefined),
      departments: departments.slice(0, 1)
    })
  }
  const request = yield* World.makeSupportRequest(id, admins.owner.id, text("Help"))
  yield* World.put(`/v1/accounts/${first}/role-label`, admins.owner.key, { role_label: "First" })
  yield* World.put(`/v1/accounts/${second}/role-label`, admins.admin.key, { role_label: "Second" })
  yield* World.post(`/v1/accounts/${third}/pause`, admins.owner.key)
  yield* World.put("/v1/me/mail-preferences", admins.billing.key, {
    security: true,
    storage: true,
    news: true,
    offers: true
  })
  const strangers = yield* Effect.forEach(
    ["superadmin", "admin", "billing", "archive"] as const,
    (role) => World.makePerson(id, role)
  )
  const login = yield* World.makeLogin(id, admins.owner.id)
  const files = yield* Archives.populate(id, AccountId.make(accounts[0] ?? ""), text)
  // Of an account that they do not reach.
  const target = second ?? null
  const rules = [yield* makeRule(id, "private", { target }), yield* makeRule(id, "group", { target })]
  const holds = [yield* makeHold(id), yield* makeHold(id)]
  const cleanups = [yield* makeCleanup(id, accounts), yield* makeCleanup(id, accounts)]
  const exports = [yield* makeExport(id, accounts), yield* makeExport(id, accounts)]
  const events = yield* World.journal(id)
  const granted = yield* World.query<{ id: string }>(
    id,
    (sql) =>
      sql`select id from account where organization_id = ${id}
      and (department_id = ${departments[0]} or ${sql.in("id", [first, third])})`
  )
  const records = yield* World.query<{ record_id: string }>(
    id,
    (sql) => sql`select record_id from session where organization_id = ${id} and not service`
  )
  const people = Object.values(admins)
  return {
    ...organization,
    live,
    granted: granted.map((account) => account.id),
    ids: {
      account: accounts,
      event: events.map((event) => event.id),
      department: departments,
      admin: people.map((person) => person.id),
      // None that a run sends requests by, which it would disable.
      person: strangers.map((person) => person.id),
      credential: people.map((person) => person.keyId),
      // None that a run sends requests with, which it would revoke.
      key: [spare.id],
      connection: [connection],
      request: [request],
      session: ["1", "2", "4", "5"],
      record: records.map((row) => row.record_id),
      login: [login],
      chat: [String(Archives.chatId)],
      message: ["1", "2"],
      member: ["77"],
      file: files,
      rule: rules,
      hold: holds,
      cleanup: cleanups,
      export: exports
    }
  } satisfies Populated
})

/** What the messenger holds of these people. */
export const onMessenger = (live: Populated["live"]) =>
  SqlClient.SqlClient.use((sql) =>
    sql<object>`select * from simulated_account where ${sql.in("user_id", live.map(({ userId }) => userId))} order by 1`
  )

/** Ids that name nothing. */
export const nothing: Ids = {
  account: [crypto.randomUUID(), crypto.randomUUID()],
  event: [crypto.randomUUID(), crypto.randomUUID()],
  department: [crypto.randomUUID()],
  admin: [crypto.randomUUID()],
  person: [crypto.randomUUID()],
  credential: [crypto.randomUUID()],
  key: [crypto.randomUUID()],
  connection: [crypto.randomUUID()],
  request: [crypto.randomUUID()],
  session: ["nothing"],
  record: [crypto.randomUUID()],
  login: [crypto.randomUUID()],
  chat: ["404"],
  message: ["404"],
  member: ["404"],
  file: [crypto.randomUUID()],
  rule: [crypto.randomUUID()],
  hold: [crypto.randomUUID()],
  cleanup: [crypto.randomUUID()],
  export: [crypto.randomUUID()]
}

/** The ids of several organizations together. */
export const together = (...all: ReadonlyArray<Ids>): Ids => ({
  account: all.flatMap((ids) => ids.account),
  event: all.flatMap((ids) => ids.event),
  department: all.flatMap((ids) => ids.department),
  admin: all.flatMap((ids) => ids.admin),
  person: all.flatMap((ids) => ids.person),
  credential: all.flatMap((ids) => ids.credential),
  key: all.flatMap((ids) => ids.key),
  connection: all.flatMap((ids) => ids.connection),
  request: all.flatMap((ids) => ids.request),
  session: all.flatMap((ids) => ids.session),
  record: all.flatMap((ids) => ids.record),
  login: all.flatMap((ids) => ids.login),
  chat: all.flatMap((ids) => ids.chat),
  message: all.flatMap((ids) => ids.message),
  member: all.flatMap((ids) => ids.member),
  file: all.flatMap((ids) => ids.file),
  rule: all.flatMap((ids) => ids.rule),
  hold: all.flatMap((ids) => ids.hold),
  cleanup: all.flatMap((ids) => ids.cleanup),
  export: all.flatMap((ids) => ids.export)
})
