import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, type Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { Role, Scope } from "../../src/domain/people/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import * as Mcp from "../mcp/support.ts"
import { inputOf } from "../support/http/requests.ts"
import { type Arguments, embedded, overHttp, without } from "../support/http/transports.ts"
import * as AdminTables from "../support/people/adminTables.ts"
import { postgres } from "../support/postgres/database.ts"
import { prepare } from "../support/preparations.ts"
import { otherRoles, senderOf } from "../support/properties/senders.ts"
import { idKindOf, isStep } from "../support/random.ts"
import * as Securing from "../support/security/securing.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

/** One input of an operation, by whom, and what has to be so before. */
interface Case {
  readonly title: string
  readonly args: Arguments
  readonly role?: Role
  readonly scopes?: ReadonlyArray<Scope>
  readonly key?: string
  readonly closed?: boolean
  readonly before?: ReturnType<typeof World.set> | ReturnType<typeof onlySession>
}

const emailOf = (organizationId: string, adminId: string) =>
  Effect.map(
    World.query<{ email: string }>(
      organizationId,
      (sql) => sql`select email from admin where organization_id = ${organizationId} and id = ${adminId}`
    ),
    ([row]) => row?.email ?? ""
  )

/** Puts a session into the account, and no other. */
const onlySession = (organization_id: string, account_id: string, facts: object) =>
  World.query<object>(organization_id, (sql) =>
    Effect.forEach([
      sql`delete from session where organization_id = ${organization_id} and account_id = ${account_id}`,
      sql`insert into session ${
        sql.insert({
          organization_id,
          account_id,
          record_id: crypto.randomUUID(),
          seen_at: new Date(1_000),
          review_deadline: new Date(9e12),
          ...facts
        })
      }`
    ], (statement) =>
      statement, World.inOneWrite))

/** The entries of the organization's journal since then, each with the way by which it was made. */
const written = (id: string, since: number) =>
  World.query<{ sequence: number; via: string }>(
    id,
    (sql) =>
      sql`select sequence, via from journal_event where organization_id = ${id} and sequence > ${since}
        order by sequence`
  )

/** An organization that was wound down, of which nothing is changed: one serves every operation. */
let closed: World.Organization | undefined

const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  closed ??= yield* World.makeOrganization({ closed_at: new Date(1_000) })
  const account = yield* World.makeLiveAccount(id)
  const early = new Date(1_000)
  const sessionless = yield* World.makeAccount(id, {
    facts: { enforcement_active_at: early, paired_state: "lost", paired_since: early }
  })
  yield* Securing.awaitCodes(id, sessionless)
  const taken = `taken_${crypto.randomUUID().slice(0, 8)}`
  yield* World.makeLiveAccount(id, { username: taken })
  yield* World.put(`/v1/accounts/${account.id}/role-label`, admins.owner.key, { role_label: "First" })
  const nameless = yield* World.makePerson(id, "superadmin", { facts: { joined_at: null } })
  const [event] = yield* World.journal(id)
  const person = (yield* World.makePerson(id, "archive")).id
  const department = yield* World.makeDepartment(id)
  yield* World.makeDepartment(id, "Taken")
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
    person,
    department,
    account: account.id,
    sessionless,
    taken,
    nameless,
    taken_email: yield* emailOf(id, admins.admin.id),
    eventId: event!.id,
    request: yield* World.makeSupportRequest(id, admins.owner.id),
    login: yield* World.makeLogin(id, admins.owner.id)
  }
})

/** The stage with what the operation is about, its arguments, and what makes them succeed again. */
const makePrepared = Effect.fnUntraced(function*(operation: Operation.Any, asker: Role) {
  const made = yield* stage
  const { admins, department, eventId: event, id, login, request } = made
  const { again = Effect.void, anew = Effect.void, members, subject } = yield* prepare(operation.id, {
    asker: admins[asker],
    organization: id
  })
  const { account, person } = { ...made, ...subject }
  // Admins are asked for too.
  yield* World.grant(id, admins.admin.id, { accounts: [account] })
  const { restored } = yield* AdminTables.kept(id)
  return {
    ...made,
    account,
    person,
    args: {
      ...inputOf(operation, { account, department, event, login, person, request, ...subject }),
      ...members
    },
    restored: Effect.all(
      [
        anew,
        restored,
        World.set(id, "account", account, { paused_at: null }),
        World.set(id, "organization", id, { archive_held_at: null }),
        again
      ],
      { discard: true }
    )
  }
})

type Made = Effect.Success<ReturnType<typeof makePrepared>>

const offboarded = (made: Made, account: string, at: Date | null) =>
  World.set(made.id, "account", account, { offboarded_at: at })

/** How each refusal by state or by the messenger comes about; a new code has a line here. */
const provoked: Readonly<Record<string, (args: Arguments, made: Made) => Omit<Case, "title">>> = {
  not_active: (args, made) => ({ args, before: paused(made, new Date(2_000)) }),
  already_offboarded: (args, made) => ({ args, before: offboarded(made, made.account, new Date(2_000)) }),
  not_offboarded: (args, made) => ({ args, before: offboarded(made, made.account, null) }),
  archive_held: (args, made) => ({
    args,
    before: World.set(made.id, "organization", made.id, { archive_held_at: new Date(2_000) })
  }),
  not_paused: (args, made) => ({ args, before: paused(made, null) }),
  not_locked: (args, made) => ({ args, before: World.set(made.id, "account", made.account, { locked_at: null }) }),
  service_session: (args, made) => ({
    args: { ...args, session_id: "1" },
    before: onlySession(made.id, made.account, { id: "1", service: true })
  }),
  no_session: (args, made) => ({
    args: { ...args, account_id: made.sessionless },
    before: onlySession(made.id, made.sessionless, { id: args["session_id"] ?? "2" })
  }),
  mail_preferences_unavailable: (args) => ({ args, key: "nameless" }),
  username_taken: (args, made) => ({ args: { ...args, username: made.taken } }),
  username_invalid: (args) => ({ args: { ...args, username: "9" } }),
  admin_exists: (args, made) => ({ args: { ...args, email: made.taken_email } }),
  admin_protected: (args, made) => ({ args: { ...args, admin_id: made.admins.owner.id } }),
  owner_required: (args, made) => ({
    args: "role" in args ? { ...args, role: "superadmin" } : { ...args, admin_id: made.nameless.id }
  }),
  not_superadmin: (args, made) => ({ args: { ...args, admin_id: made.admins.admin.id } }),
  not_invited: (args, made) => ({ args: { ...args, admin_id: made.admins.admin.id } }),
  not_enabled: (args, made) => ({
    args,
    before: World.set(made.id, "admin", made.person, { disabled_at: new Date(1_000) })
  }),
  not_disabled: (args, made) => ({ args, before: World.set(made.id, "admin", made.person, { disabled_at: null }) }),
  department_exists: (args) => ({ args: { ...args, name: "TAKEN" } }),
  department_in_use: (args, made) => ({
    args,
    before: World.set(made.id, "account", made.account, { department_id: args["department_id"] })
  }),
  bio_too_long: (args) => ({ args: { ...args, about: "x".repeat(100) } })
}

/** Refusals by state that no line above brings about: the tests of what is secured, and of the messenger, show them. */
const shownElsewhere: ReadonlySet<string> = new Set([
  "access_not_applicable",
  "archive_closed",
  "archive_empty",
  "archive_readonly",
  "cleanup_expired",
  "content_unreadable",
  "idempotency_in_progress",
  "idempotency_key_reused",
  "messenger_refused",
  "no_archive_key",
  "no_archive_plan",
  "no_paired_session",
  "no_pending_change",
  "not_held",
  "not_previewed",
  "not_running",
  "passkey_not_eligible",
  "passkey_not_managed",
  "passkey_unsupported",
  "rule_exists",
  "storage_full",
  "too_many_exports",
  "two_fa_not_managed",
  "two_fa_not_released",
  "two_fa_password_required",
  "username_purchasable"
])

const paused = (made: Made, at: Date | null) => World.set(made.id, "account", made.account, { paused_at: at })

/** What makes something makes it anew by every call. */
const makesAnew = new Set([
  "create_archive_export",
  "create_api_key",
  "create_archive_rule",
  "create_department",
  "create_support_request",
  "invite_admin",
  "place_archive_hold",
  "preview_archive_cleanup"
])

const nameless = (operation: Operation.Any, answer: Arguments): Arguments =>
  makesAnew.has(operation.id) ? without(without(without(answer, "id"), "secret"), "number") : answer

/** What an input may be like: good, bad, forbidden, missing, and in conflict with how things are. */
const cases = (operation: Operation.Any, made: Made): ReadonlyArray<Case> => {
  const { args } = made
  const codes = operation.failures.map(({ identifier }) => identifier)
  const before = paused(made, codes.includes("not_paused") ? new Date(2_000) : null)
  const { query } = operation
  const path = Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(operation.params, name)))
  return [
    { title: "good", args, before },
    { title: "another member", args: { ...args, another: "1" }, before },
    { title: "a wrong key", args, key: "osc_live_wrong" },
    { title: "a closed organization", args, closed: true },
    { title: "a missing scope", args, scopes: Scope.literals.filter((scope) => scope !== operation.scope) },
    { title: "a missing scope and a bad input", args: { another: "1" }, scopes: [] },
    ...otherRoles(operation).map((role): Case => ({ title: `as ${role}`, args, role, before })),
    ...Object.keys(operation.params).flatMap((name): ReadonlyArray<Case> => [
      { title: `${name} of nothing`, args: { ...args, [name]: crypto.randomUUID() } },
      { title: `${name} malformed`, args: { ...args, [name]: "not-an-id" } }
    ]),
    ...Object.keys(query).flatMap((name): ReadonlyArray<Case> => [
      { title: `${name} malformed`, args: { ...args, [name]: "?" } },
      { title: `${name} missing`, args: without(args, name) },
      ...(idKindOf(operation, name) === undefined
        ? []
        : [{ title: `${name} of nothing`, args: { ...path, [name]: crypto.randomUUID() } }])
    ]),
    ...("limit" in query
      ? [{ title: "one page", args: { ...args, limit: 1 } }, { title: "no page", args: { ...args, limit: 1000 } }]
      : []),
    // Each member in one of these ways, and the next member or operation in the next.
    ...Object.keys(operation.body).flatMap((name, place) =>
      [
        { title: `${name} too long or unknown`, args: { ...args, [name]: "x".repeat(200) }, before },
        { title: `${name} missing`, args: without(args, name), before },
        { title: `${name} of a wrong type`, args: { ...args, [name]: 7 }, before }
      ].slice((all.indexOf(operation) + place) % 3).slice(0, 1)
    ),
    ...codes.flatMap((code) => {
      const provoke = provoked[code]
      return provoke === undefined ? [] : [{ title: code, ...provoke(args, made) }]
    })
  ]
}

describe("REST, MCP and embedding", () => {
  it("are compared for every refusal by state, but for those that other tests show", () => {
    const declared = all.filter((one) => !isStep(one)).flatMap(({ failures }) =>
      failures.filter(({ status }) => status === 409).map(({ identifier }) => identifier)
    )
    expect(
      declared.filter((code) => !(code in provoked)).toSorted().filter((code, at, codes) => codes[at - 1] !== code)
    )
      .toEqual([...shownElsewhere])
  })

  layer(World.world(postgres))((it) => {
    for (const operation of all.filter((one) => !isStep(one))) {
      it.effect(
        `S1-09, S1-10, S4-18: ${operation.id} answers the same by each transport, whatever it is asked and by whom`,
        () =>
          Effect.gen(function*() {
            yield* TestClock.setTime(1_700_000_000_000)
            const found = new Set<string>()
            const sender = senderOf(operation)
            const made = yield* makePrepared(operation, sender)
            let journaled = 0
            const keys = new Map<string, Redacted.Redacted>()
            const credential = Effect.fnUntraced(function*({ closed, role = sender, scopes }: Case) {
              const kind = JSON.stringify([closed, role, scopes])
              const known = keys.get(kind)
              if (known !== undefined) return known
              const { admins, id } = closed === true ? made.closed : made
              const { key } = yield* World.makeKey(id, admins[role].id, scopes)
              keys.set(kind, key)
              return key
            })
            // What an earlier answer has changed is put back; a refusal changes nothing, and neither does a read.
            let prepared: Case["before"] | "changed" = "changed"
            const make = Effect.fnUntraced(function*({ before }: Case) {
              if (prepared === before) return
              yield* made.restored
              yield* before ?? Effect.void
              prepared = before
            })
            const answered = (done: boolean) => {
              if (done && operation.kind !== "read") prepared = "changed"
            }
            for (const one of cases(operation, made)) {
              const key = one.key === "nameless" ? made.nameless.key : one.key ?? (yield* credential(one))
              yield* make(one)
              const { path, ...request } = overHttp(operation, one.args)
              const rest = yield* World.send(operation.method, path, { key, ...request })
              const { body } = rest
              // A login has a member of that name too.
              const error = rest.status === 200 ? undefined : body.error
              answered(error === undefined)
              yield* make(one)
              expect([one.title, nameless(operation, yield* embedded(operation, one.args, key))]).toEqual([
                one.title,
                nameless(operation, error === undefined ? body : without(error, "type"))
              ])
              answered(error === undefined)
              yield* make(one)
              journaled = (yield* written(made.id, journaled)).at(-1)?.sequence ?? journaled
              const options = operation.personal === undefined ? {} : { options: Mcp.personal }
              const tool = Mcp.resultOf(yield* Mcp.call(operation.id, one.args, { key, ...options }))
              answered(error === undefined)
              found.add(rest.body.error?.code ?? "done")
              const code = rest.body.error?.code
              // What is answered to a person alone is refused to an assistant, after everything that needs no password.
              const forPersons = operation.page === undefined
                ? operation.personalPage !== undefined && code === "password_required"
                : code === undefined || /^(?:scope_exceeded|password_\w+)$/.test(code)
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
              expect([one.title, { ...tool, body: nameless(operation, tool.body) }]).toEqual([
                one.title,
                { status: how === "refused" ? rest.status : 200, how, body: nameless(operation, rest.body) }
              ])
              const fresh = yield* written(made.id, journaled)
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
              ...operation.failures.flatMap(({ identifier }) => identifier in provoked ? [identifier] : [])
            ]
            expect([...found].sort()).toEqual(expect.arrayContaining(expected.sort()))
          }),
        120_000
      )
    }
  })
})
