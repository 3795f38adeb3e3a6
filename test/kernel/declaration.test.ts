import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Caller, type Role, superadmins } from "../../src/domain/Access.ts"
import { AccountAction, TargetAccount } from "../../src/domain/Account.ts"
import {
  NotActive,
  ParameterInvalid,
  UsernameInvalid,
  UsernamePurchasable,
  UsernameTaken
} from "../../src/domain/Failure.ts"
import { maxRoleLabelLength, maxUsernameLength } from "../../src/domain/Limits.ts"
import { Text } from "../../src/domain/Wire.ts"
import * as Documents from "../../src/http/Documents.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import { operations, ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import * as Mcp from "../mcp/support.ts"
import { forEachDatabase } from "../support/database.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const noted = { action: "account.reason_noted", target: "account" } as const

/** An operation that is declared here and nowhere else. */
const retireLabel = Operation.write(
  "retire_label",
  {
    summary: "Take an account's label away, and keep why.",
    method: "POST",
    path: "/v1/accounts/:account_id/retire-label",
    toolset: "security",
    scope: "security:write",
    roles: superadmins,
    destructive: true,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: { reason: Text(maxRoleLabelLength).annotateKey({ description: "Why, such as Left the board." }) },
    success: AccountAction,
    failures: [NotActive],
    sample: {
      request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", reason: "Left the board" },
      answer: {
        object: "account_action",
        account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
        action: "label_retired"
      }
    },
    journal: { action: "account.label_retired", target: "account" }
  },
  ({ reason }, { account, caller }) =>
    Effect.gen(function*() {
      if (reason === "none") return yield* new ParameterInvalid({ param: "reason", message: "reason: none." })
      if (account.role_label === null) return yield* new NotActive({})
      const accounts = yield* Ports.Accounts
      yield* accounts.setRoleLabel(caller.organizationId, account, null)
      const further = (part: number) => ({
        journal: noted,
        targetId: account.id,
        // What is no id breaks the last entry alone, after the change and the entries before.
        accountId: reason === "break" && part === 2 ? "none" : account.id,
        details: { reason, part }
      })
      return Operation.changed(
        { object: "account_action" as const, account_id: account.id, action: "label_retired" },
        { label: account.role_label },
        undefined,
        [further(1), further(2)]
      )
    })
)

/** One that changes something on the messenger. */
const takeUsername = Operation.guarded(
  "take_username",
  {
    summary: "Give an account a username.",
    method: "POST",
    path: "/v1/accounts/:account_id/take-username",
    toolset: "security",
    scope: "security:write",
    roles: superadmins,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount },
    body: { username: Text(maxUsernameLength).annotateKey({ description: "The username, such as ada." }) },
    success: AccountAction,
    failures: [UsernameTaken, UsernameInvalid, UsernamePurchasable],
    sample: {
      request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", username: "ada_of_demo" },
      answer: {
        object: "account_action",
        account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
        action: "username_taken"
      }
    },
    journal: { action: "profile.username_taken", target: "account" }
  },
  {
    check: ({ username }) => Effect.succeed(Operation.planned(username)),
    intent: (username) => ({ details: { username } }),
    act: (username, { live }) => live.setUsername(username),
    settle: () => Effect.succeed({}),
    answer: (_, __, { account }) =>
      Effect.succeed({ object: "account_action" as const, account_id: account.id, action: "username_taken" })
  }
)

const list: Operation.List = [...operations, retireLabel, takeUsername]

const serving = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, ServedOperations, list)

const label = "Chair"

const entries = (organizationId: string) =>
  Effect.map(
    World.journal(organizationId),
    (events) => events.map(({ action, details, outcome }) => [action, outcome, details])
  )

const retired = [
  ["account.label_retired", "done", { label }],
  ["account.reason_noted", "done", { reason: "Left", part: 1 }],
  ["account.reason_noted", "done", { reason: "Left", part: 2 }]
]

const answer = (account: string) => ({ object: "account_action", account_id: account, action: "label_retired" })

/** The admin whom an embedding program acts as. */
const callerOf = Effect.fnUntraced(function*(key: World.Person["key"]) {
  const credentials = yield* Ports.Credentials
  const known = yield* credentials.authenticate(key, `${World.baseUrl}/v1`)
  return Caller.of({ ...known, via: "embedded", ip: null, requestId: null })
})

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { facts: { role_label: label } })
  const retire = (role: Role, reason: string, headers: Record<string, string> = {}, of: string = account) =>
    serving(World.send("POST", `/v1/accounts/${of}/retire-label`, {
      key: admins[role].key,
      body: { reason },
      headers
    }))
  return { admins, id, account, retire }
})

it.live("of refusals over two replicas ten a minute are journaled", () =>
  Effect.gen(function*() {
    const [one, two] = yield* replicas
    const { id, retire } = yield* one(make)
    const ask = retire("owner", "none")
    const asked = Array.from({ length: 8 }, () => [one(ask), two(ask)]).flat()
    const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
    expect((yield* one(entries(id))).length).toBe(10)
  }))

describe("an operation that is declared, and nothing else", () => {
  it("is in the document, with its hints, its sample and its key", () => {
    const { paths }: any = JSON.parse(JSON.stringify(Documents.make(list)))
    const { post } = paths["/v1/accounts/{account_id}/retire-label"]
    expect(post).toMatchObject({
      operationId: "retire_label",
      tags: ["security"],
      "x-scope": "security:write",
      "x-roles": superadmins,
      "x-destructive": true
    })
    expect(post.requestBody.content["application/json"].examples.demo.value).toEqual({ reason: "Left the board" })
    expect(JSON.stringify(post.parameters)).toContain("Idempotency-Key")
    expect(Object.keys(post.responses).toSorted()).toEqual([
      "200",
      "400",
      "401",
      "403",
      "404",
      "409",
      "429",
      "500",
      "503"
    ])
    expect(JSON.stringify(Documents.make())).not.toContain("retire_label")
  })

  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("answers over HTTP, checked and journaled with its further entries in their order", () =>
        Effect.gen(function*() {
          const { account, id, retire } = yield* make
          expect((yield* retire("admin", "Left")).body.error.code).toBe("role_forbidden")
          expect((yield* retire("owner", "a".repeat(61))).body.error.param).toBe("reason")
          const done = yield* retire("owner", "Left")
          expect([done.status, done.body]).toEqual([200, answer(account)])
          expect(yield* entries(id)).toEqual(retired)
          expect((yield* World.journal(id)).map(({ account_id, target_id }) => [account_id, target_id])).toEqual(
            Array.from({ length: 3 }, () => [account, account])
          )
        }))

      it.effect("changes nothing and journals nothing where the last of its entries fails", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const before = yield* World.snapshot(id)
          expect((yield* retire("owner", "break")).status).toBe(500)
          expect(yield* World.snapshot(id)).toEqual(before)
        }))

      it.effect("takes an Idempotency-Key", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const first = yield* retire("owner", "Left", { "idempotency-key": "one" })
          const again = yield* retire("owner", "Left", { "idempotency-key": "one" })
          expect([again.status, again.body]).toEqual([200, first.body])
          expect(again.headers.get("idempotent-replayed")).toBe("true")
          expect(yield* entries(id)).toEqual(retired)
        }))

      it.effect("takes the same key from every transport: the header, _meta of a call, and the caller of a program", () =>
        Effect.gen(function*() {
          const { account, admins, id, retire } = yield* make
          const { key } = admins.owner
          const called = { name: "retire_label", arguments: { account_id: account, reason: "Left" } }
          const params = (given: unknown) => ({ ...called, _meta: { idempotency_key: given } })
          const newest = (given: unknown) => serving(Mcp.ask("tools/call", params(given), { key }))
          for (const wrong of ["", 1, "a".repeat(256), " ", " one", "one "]) {
            expect(Mcp.told(yield* newest(wrong)).body.error.param).toBe("Idempotency-Key")
          }
          expect(Mcp.told(yield* newest("one")).body).toEqual(answer(account))
          const legacy = Mcp.send({ key, body: Mcp.legacy("tools/call", params("one")) })
          expect(Mcp.told(yield* serving(legacy)).body).toEqual(answer(account))
          const header = yield* retire("owner", "Left", { "idempotency-key": "one" })
          expect([header.body, header.headers.get("idempotent-replayed")]).toEqual([answer(account), "true"])
          const caller = yield* callerOf(key)
          const embedded = retireLabel.call({ account_id: account, reason: "Left" }).pipe(
            Effect.provideService(Caller, Caller.of({ ...caller, extras: { idempotencyKey: "one" } }))
          )
          expect(Schema.encodeSync(AccountAction)(yield* embedded)).toEqual(answer(account))
          expect(yield* entries(id)).toEqual(retired)
        }))

      it.effect("is a tool for those who may use it", () =>
        Effect.gen(function*() {
          const { account, admins, id } = yield* make
          expect(yield* serving(Mcp.list({ key: admins.owner.key }))).toContain("retire_label")
          expect(yield* serving(Mcp.list({ key: admins.owner.key, path: "/mcp?tools=retire_label" }))).toEqual([
            "retire_label"
          ])
          const listed = yield* serving(Mcp.ask("tools/list", {}, { key: admins.owner.key }))
          const tool = listed.body.result.tools.find(({ name }: { readonly name: string }) => name === "retire_label")
          expect(tool.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: false })
          expect(yield* serving(Mcp.list({ key: admins.admin.key }))).not.toContain("retire_label")
          const call = (role: Role) =>
            serving(
              Mcp.call("retire_label", { account_id: account, reason: "Left" }, { key: admins[role].key })
            )
          expect(Mcp.told(yield* call("admin")).body.error.code).toBe("role_forbidden")
          expect(Mcp.told(yield* call("owner")).body).toEqual(answer(account))
          expect(yield* entries(id)).toEqual(retired)
        }))

      it.effect("is journaled as refused where it is destructive and fails with 400 or 409 after its object was found", () =>
        Effect.gen(function*() {
          const { account, admins, id, retire } = yield* make
          const { account: foreign } = yield* make
          expect((yield* retire("owner", "Left", {}, foreign)).status).toBe(404)
          expect((yield* retire("owner", "a".repeat(61))).status).toBe(400)
          expect((yield* retire("admin", "none")).status).toBe(403)
          expect(yield* entries(id)).toEqual([])
          expect((yield* retire("owner", "none")).status).toBe(400)
          expect((yield* retire("owner", "Left")).status).toBe(200)
          expect((yield* retire("owner", "Left")).body.error.code).toBe("not_active")
          const call = Mcp.call("retire_label", { account_id: account, reason: "none" }, { key: admins.superadmin.key })
          expect(Mcp.told(yield* serving(call)).body.error.code).toBe("parameter_invalid")
          expect(yield* entries(id)).toEqual([
            ["account.label_retired", "refused", { code: "parameter_invalid" }],
            ...retired,
            ["account.label_retired", "refused", { code: "not_active" }],
            ["account.label_retired", "refused", { code: "parameter_invalid" }]
          ])
          const refused = (yield* World.journal(id)).filter(({ outcome }) => outcome === "refused")
          expect(refused.map((event) => [event.via, event.credential_id, event.account_id, event.target_id])).toEqual([
            ["rest", admins.owner.keyId, account, account],
            ["rest", admins.owner.keyId, account, account],
            ["mcp", admins.superadmin.keyId, account, account]
          ])
        }))

      it.effect("is not journaled as refused where an Idempotency-Key answers", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const headers = { "idempotency-key": "one" }
          expect((yield* retire("owner", "Left", headers)).status).toBe(200)
          expect((yield* retire("owner", "Left", headers)).headers.get("idempotent-replayed")).toBe("true")
          expect((yield* retire("owner", "Else", headers)).body.error.code).toBe("idempotency_key_reused")
          expect(yield* entries(id)).toEqual(retired)
        }))

      it.effect("is journaled as refused at most ten times a minute for one credential", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const count = Effect.map(entries(id), (events) => events.length)
          yield* Effect.forEach(Array.from({ length: 12 }), () => retire("owner", "none"))
          expect(yield* count).toBe(10)
          yield* retire("superadmin", "none")
          expect(yield* count).toBe(11)
          yield* TestClock.adjust("1 minute")
          yield* retire("owner", "none")
          expect(yield* count).toBe(12)
        }))

      it.effect("answers why it refused where the journal fails", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const journal = yield* Ports.Journal
          const failing = Ports.Journal.of({ ...journal, refuse: () => Effect.die(new Error("The journal is away")) })
          const refused = yield* Effect.provideService(retire("owner", "none"), Ports.Journal, failing)
          expect(World.refusal(refused)).toEqual([400, "parameter_invalid", "reason"])
          expect(yield* entries(id)).toEqual([])
        }))

      it.effect("on the messenger is journaled as refused before its intent, and as failed after it", () =>
        Effect.gen(function*() {
          const { account, admins, id } = yield* make
          const { id: live } = yield* World.makeLiveAccount(id)
          const username = `taken_${World.freshId().slice(2, 10)}`
          yield* World.makeLiveAccount(id, { username })
          const take = (of: string) =>
            serving(World.send("POST", `/v1/accounts/${of}/take-username`, {
              key: admins.owner.key,
              body: { username }
            }))
          expect((yield* take(account)).body.error.code).toBe("no_session")
          expect((yield* take(live)).body.error.code).toBe("username_taken")
          expect((yield* entries(id)).map(([, outcome]) => outcome)).toEqual(["refused", "pending", "failed"])
        }))

      it.effect("is called by a program that embeds it", () =>
        Effect.gen(function*() {
          const { account, admins, id } = yield* make
          const caller = yield* callerOf(admins.owner.key)
          const done = yield* retireLabel.call({ account_id: account, reason: "Left" }).pipe(
            Effect.provideService(Caller, caller)
          )
          expect(Schema.encodeSync(AccountAction)(done)).toEqual(answer(account))
          expect(yield* entries(id)).toEqual(retired)
        }))
    })
  })
})
