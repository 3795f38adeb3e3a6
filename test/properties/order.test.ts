import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { confirmPhrase } from "../../src/domain/archive/ConfirmPhrase.ts"
import { Caller, Role, Scope } from "../../src/domain/people/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { api, operations } from "../added/index.ts"
import * as Mcp from "../mcp/support.ts"
import { cleanupPhrase, makeCleanup, makeHold } from "../support/archive/cleanups.ts"
import { makeExport } from "../support/archive/exports.ts"
import { makeRule } from "../support/archive/rules.ts"
import { postgres } from "../support/postgres/database.ts"
import { senderOf } from "../support/properties/senders.ts"
import * as World from "../support/world.ts"

/** What may be wrong with a request, in the order in which it is found out. */
const stages = ["credential", "rate", "scope", "closed", "role", "whole", "input", "reach", "state"] as const
type Stage = typeof stages[number]

const all: ReadonlyArray<Operation.Any> = operations

/** What an operation may refuse in the state that it finds; a request without an `Idempotency-Key` is no repeat. */
const conflicts = (operation: Operation.Any): ReadonlyArray<string> =>
  operation.failures.filter(({ status }) => status === 409).map(({ identifier }) => identifier)
    .filter((code) => !code.startsWith("idempotency_") && `${operation.id} ${code}` !== ofFewCallers)

/** The superadmins by whom these requests are sent reach everything, wherever it is moved. */
const ofFewCallers = "set_account_department access_not_applicable"

/** The stages that an operation can fail at, read from its declaration. */
const stagesOf = (operation: Operation.Any): ReadonlyArray<Stage> =>
  stages.filter((stage) =>
    stage === "role"
      ? operation.roles.length < Role.literals.length
      : stage === "whole"
      ? operation.whole
      : stage === "reach"
      ? Object.keys(operation.params).length > 0
      : stage === "state"
      ? conflicts(operation).length > 0
      : true
  )

const expected = (operation: Operation.Any, stage: Stage): readonly [status: number, codes: ReadonlyArray<string>] => {
  switch (stage) {
    case "credential":
      return [401, ["invalid_api_key"]]
    case "rate":
      return [429, ["rate_limited"]]
    case "scope":
      return [403, ["insufficient_scope"]]
    case "closed":
      return [403, ["organization_closed"]]
    case "role":
      return [403, [operation.refusal.identifier]]
    case "whole":
      return [403, ["role_forbidden"]]
    case "input":
      return [400, ["parameter_invalid"]]
    case "reach":
      // A file names no account, so that the archive is opened before it is looked for.
      return "file_id" in operation.params ? [409, ["no_archive_key"]] : [404, ["resource_missing"]]
    case "state":
      return [409, conflicts(operation)]
  }
}

/** Those that a request with a key can fail at: a key has no limit. */
const byKey = (operation: Operation.Any) => stagesOf(operation).filter((stage) => stage !== "whole")

type Violations = ReadonlyArray<ReadonlySet<Stage>>

/** Each stage alone, and each with all that come after it: the order of checks that are made one after another. */
const violations = (possible: ReadonlyArray<Stage>): Violations =>
  possible.flatMap((stage, index) => {
    const later = possible.slice(index + 1)
    return [new Set([stage]), ...(later.length === 0 ? [] : [new Set([stage, ...later])])]
  })

/** Each two together, but for the last two, which stand above; a quarter of them, another one for the next operation. */
const pairs = (possible: ReadonlyArray<Stage>, turn: number): Violations =>
  possible.slice(0, -2).flatMap((stage, index) => possible.slice(index + 1).map((other) => new Set([stage, other])))
    .filter((_, index) => index % 4 === turn % 4)

/** A body that the operation takes: that of its sample. */
const bodyOf = (operation: Operation.Any): object =>
  Object.fromEntries(
    Object.entries(operation.sample.request).filter(([name]) => Object.hasOwn(operation.body, name))
  )

const password = Redacted.make(String(api.transfer_ownership.sample.request.current_password))

/** An open organization and a closed one, each with an account that no operation can act on. */
const makeStage = Effect.gen(function*() {
  const make = Effect.fnUntraced(function*(facts: Record<string, unknown>) {
    const { admins, id } = yield* World.makeOrganization(facts)
    const { id: person } = yield* World.makePerson(id, "admin", { email: "taken@example.com" })
    yield* Provisioning.password(id, admins.owner.id, password)
    const used = yield* World.makeDepartment(id, "Taken")
    const department = yield* World.makeDepartment(id)
    const account = yield* World.makeAccount(id, { facts: { offboarded_at: new Date(1_000), department_id: used } })
    const phone = `+1${crypto.randomInt(1_000_000_000, 9_999_999_999)}`
    const watched = yield* World.makeAccount(id, { phone })
    const login = yield* World.makeLogin(id, admins.owner.id)
    yield* makeRule(id, "saved")
    const hold = yield* makeHold(id)
    const cleanup = yield* makeCleanup(id, [account])
    const made = yield* makeExport(id, [account])
    return { id, account, cleanup, exported: made, hold, admins, department, login, person, phone, used, watched }
  })
  return { open: yield* make({}), closed: yield* make({ closed_at: new Date(1_000) }) }
})

type Made = Effect.Success<typeof makeStage>["open"]

/** The operations that the owner is protected from, or whose access the owner cannot have. */
const owned = new Set(["set_admin_role", "set_admin_access", "disable_admin", "remove_admin"])

/** What a request names where it is refused by the state of things, and what its path names otherwise. */
const named = (
  operation: Operation.Any,
  conflict: boolean,
  { account, admins, cleanup, department, exported, hold, id, login, person, phone, used, watched }: Made
) => {
  const members: Readonly<Record<string, string>> = {
    account_id: conflict && operation.id === "delete_account_with_archive" ? watched : account,
    department_id: conflict && operation.id === "delete_department" ? used : department,
    login_id: login,
    hold_id: hold,
    cleanup_id: cleanup,
    export_id: exported,
    chat_id: "404",
    message_id: "404",
    admin_id: conflict && owned.has(operation.id) ? admins.owner.id : person
  }
  const conflicting: Readonly<Record<string, object>> = {
    create_department: { name: "taken" },
    rename_department: { name: "taken" },
    set_account_department: {},
    invite_admin: { email: "Taken@example.com", access: {} },
    preview_archive_cleanup: { criteria: { account_ids: [account] } },
    create_archive_export: { criteria: { account_ids: [account] } },
    confirm_archive_cleanup: { confirm_phrase: cleanupPhrase },
    create_archive_rule: { selector: { chat_type: "saved", chat_id: null } },
    set_admin_access: { account_ids: [], department_ids: [], archive: true },
    start_account_connect: { phone_number: phone },
    delete_account_with_archive: { confirm_phrase: confirmPhrase({ kind: "account", phoneNumber: phone }) },
    delete_whole_archive: { confirm_phrase: confirmPhrase({ kind: "archive", organizationId: id }) }
  }
  // What a path does not name stands in the body, with ids that are there.
  const ids: Readonly<Record<string, object>> = {
    transfer_ownership: { admin_id: person },
    preview_archive_cleanup: { criteria: { account_ids: [account] } },
    create_archive_export: { criteria: { account_ids: [account] } },
    place_archive_hold: { account_ids: [account] },
    set_admin_access: { account_ids: [], department_ids: [] },
    invite_admin: { access: {} }
  }
  return {
    params: Object.fromEntries(Object.keys(operation.params).map((name) => [name, members[name] ?? account])),
    body: { ...ids[operation.id], ...(conflict ? conflicting[operation.id] : {}) }
  }
}

/** Ids of nothing, in the place of those that the service gives; those of the messenger have another form. */
const missingIds = (operation: Operation.Any) =>
  Object.fromEntries(
    Object.keys(operation.params).filter((name) => name !== "chat_id" && name !== "message_id")
      .map((name) => [name, crypto.randomUUID()])
  )

/** How often a key is used before another one takes its place: it may be 120 times in a minute. */
const uses = 100

const ownKey = (organizationId: string, adminId: string, scopes: ReadonlyArray<Scope>) =>
  Effect.map(World.makeKey(organizationId, adminId, scopes), ({ id: keyId, key }) => ({ keyId, key }))

/** Admins with a key, whose budget is spent already where that is asked for; one serves many requests of its kind. */
const makeKeys = () => {
  const made = new Map<string, { readonly person: World.Person; used: number }>()
  return Effect.fnUntraced(function*(
    rate: boolean,
    { admins, id: organizationId }: Made,
    role: Role,
    scopes: ReadonlyArray<Scope>,
    facts: Record<string, unknown>
  ) {
    const kind = JSON.stringify([rate, organizationId, role, scopes, facts])
    const known = made.get(kind)
    if (known !== undefined && known.used < uses) {
      known.used++
      return known.person
    }
    // There is one owner, who has another key for each kind.
    const { id, key, keyId } = role === "owner"
      ? { ...admins.owner, ...(yield* ownKey(organizationId, admins.owner.id, scopes)) }
      : yield* World.makePerson(organizationId, role, { scopes, facts })
    const person: World.Person = { id, key, keyId }
    if (role === "superadmin") yield* Provisioning.password(organizationId, id, password)
    if (rate) yield* World.spend(person.keyId)
    made.set(kind, { person, used: rate ? -Infinity : 1 })
    return person
  })
}

const scene = Effect.gen(function*() {
  const stage = yield* makeStage
  const keys = makeKeys()
  return Effect.fnUntraced(function*(operation: Operation.Any, wrong: ReadonlySet<Stage>) {
    const made = wrong.has("closed") ? stage.closed : stage.open
    const forbidden = Role.literals.filter((role) => !operation.roles.includes(role))
    const sender = senderOf(operation)
    const { key } = yield* keys(
      wrong.has("rate"),
      made,
      wrong.has("role") ? forbidden[wrong.size % forbidden.length]! : sender,
      Scope.literals.filter((scope) => (scope === operation.scope) !== wrong.has("scope")),
      wrong.has("state") ? { joined_at: null } : {}
    )
    const { body, params } = named(operation, wrong.has("state"), made)
    const extra = wrong.has("input") ? { unknown: "1" } : {}
    return {
      key: wrong.has("credential") ? `${Redacted.value(key)}x` : Redacted.value(key),
      params: wrong.has("reach")
        ? { ...params, ...missingIds(operation) }
        : params,
      body: { ...bodyOf(operation), ...body },
      extra
    }
  })
})

/** What answers a request of which all this is wrong: the check that comes first, by its status and one of its codes. */
const earliest = (operation: Operation.Any, wrong: ReadonlySet<Stage>) => {
  const first = [...wrong][0]!
  const [status, codes] = expected(operation, first)
  return {
    first,
    status,
    conflicting: `${operation.id}: ${[...wrong].join(", ")}`,
    oneOf: (found: string) => codes.find((code) => code === found) ?? codes
  }
}

describe("the order of checks", () => {
  layer(World.world(postgres))((it) => {
    it.effect(
      "S7-14: every operation over HTTP answers the earliest of all that is wrong with a request",
      () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const prepare = yield* scene
          for (const [turn, operation] of all.entries()) {
            for (const wrong of [...violations(byKey(operation)), ...pairs(byKey(operation), turn)]) {
              const { body, extra, key, params } = yield* prepare(operation, wrong)
              const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? "")
              const query = new URLSearchParams(extra).toString()
              const answer = yield* World.send(operation.method, query === "" ? path : `${path}?${query}`, {
                key,
                ...(Object.keys(operation.body).length === 0 ? {} : { body })
              })
              const { conflicting, oneOf, status } = earliest(operation, wrong)
              const code: string = answer.body.error?.code
              expect([conflicting, answer.status, code]).toEqual([conflicting, status, oneOf(code)])
            }
          }
        }),
      60_000
    )
  })

  layer(World.world(postgres))((it) => {
    it.effect(
      "S7-14: every tool answers the same order: the first three for the whole request, the rest as results",
      () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const prepare = yield* scene
          for (const operation of all) {
            for (const wrong of violations(byKey(operation))) {
              const { body, extra, key, params } = yield* prepare(operation, wrong)
              const answer = Mcp.resultOf(
                yield* Mcp.call(operation.id, { ...params, ...body, ...extra }, {
                  key,
                  ...(operation.personal === undefined ? {} : { options: Mcp.personal })
                })
              )
              const { conflicting, first, oneOf, status } = earliest(operation, wrong)
              const whole = first === "credential" || first === "rate" || first === "scope"
              const code: string = answer.body.error?.code
              expect([conflicting, answer.status, answer.how, code]).toEqual([
                conflicting,
                ...(whole ? [status, "refused"] : [200, "failed"]),
                oneOf(code)
              ])
            }
          }
        }),
      60_000
    )

    it.effect("S7-14: every operation that is called finds the same order", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        const prepare = yield* scene
        const credentials = yield* Credentials
        for (const operation of all) {
          for (const wrong of violations(stagesOf(operation))) {
            if (wrong.has("credential")) continue
            const { body, extra, key, params } = yield* prepare(operation, wrong)
            const known = yield* credentials.authenticate(Redacted.make(key), `${World.baseUrl}/v1`)
            const caller = Caller.of({
              ...known,
              limit: wrong.has("whole") ? { scopeType: "accounts", connectionId: crypto.randomUUID() } : null,
              via: "embedded",
              ip: null,
              requestId: null
            })
            const failure = yield* Effect.flip(operation.call({ ...params, ...body, ...extra })).pipe(
              Effect.provideService(Caller, caller)
            )
            const { conflicting, oneOf } = earliest(operation, wrong)
            expect([conflicting, failure._tag]).toEqual([conflicting, oneOf(failure._tag)])
          }
        }
      }), 60_000)
  })

  it("is declared: every operation's failures hold what each stage answers", () => {
    for (const operation of all) {
      for (const stage of stagesOf(operation)) {
        const [status, codes] = expected(operation, stage)
        const declared = operation.failures.filter((failure) => failure.status === status)
        expect(declared.map(({ identifier }) => identifier)).toEqual(expect.arrayContaining([...codes]))
      }
    }
  })
})
