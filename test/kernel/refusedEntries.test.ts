import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AccountAction, TargetAccount } from "../../src/domain/accounts/Account.ts"
import { UsernameInvalid, UsernamePurchasable, UsernameTaken } from "../../src/domain/Failure.ts"
import { Text } from "../../src/domain/JsonShapes.ts"
import { maxUsernameLength } from "../../src/domain/Limits.ts"
import { type Role, superadmins } from "../../src/domain/people/Access.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import { operations } from "../added/index.ts"
import * as Mcp from "../mcp/support.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

/** A destructive operation that changes something on the messenger. */
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

const list: Operation.List = [...operations, takeUsername]

/** The label of the account, which is no reason to take it away. */
const label = "Chair"

const entries = (organizationId: string) =>
  Effect.map(
    World.journal(organizationId),
    (events) => events.map(({ action, details, outcome }) => [action, outcome, details])
  )

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { facts: { role_label: label } })
  const retire = (role: Role, reason: string, headers: Record<string, string> = {}, of: string = account) =>
    World.send("POST", `/v1/accounts/${of}/retire-label`, { key: admins[role].key, body: { reason }, headers })
  return { admins, id, account, retire }
})

describe("a destructive operation that is refused", () => {
  it.live("is journaled ten times a minute over two replicas", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { id, retire } = yield* one(make)
      const ask = retire("owner", label)
      const asked = Array.from({ length: 8 }, () => [one(ask), two(ask)]).flat()
      const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
      expect((yield* one(entries(id))).length).toBe(10)
    }))

  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("is journaled where it fails with 400 or 409 after its object was found, by every transport", () =>
        Effect.gen(function*() {
          const { account, admins, id, retire } = yield* make
          const { account: foreign } = yield* make
          expect((yield* retire("owner", "Left", {}, foreign)).status).toBe(404)
          expect((yield* retire("owner", "a".repeat(61))).status).toBe(400)
          expect((yield* retire("admin", label)).status).toBe(403)
          expect(yield* entries(id)).toEqual([])
          expect((yield* retire("owner", label)).status).toBe(400)
          yield* World.set(id, "account", account, { paused_at: new Date(0) })
          expect((yield* retire("owner", "Left")).body.error.code).toBe("not_active")
          const call = Mcp.call("retire_label", { account_id: account, reason: label }, { key: admins.superadmin.key })
          expect(Mcp.resultOf(yield* call).body.error.code).toBe("parameter_invalid")
          expect(yield* entries(id)).toEqual([
            ["account.label_retired", "refused", { code: "parameter_invalid" }],
            ["account.label_retired", "refused", { code: "not_active" }],
            ["account.label_retired", "refused", { code: "parameter_invalid" }]
          ])
          const refused = yield* World.journal(id)
          expect(refused.map((event) => [event.via, event.credential_id, event.account_id, event.target_id])).toEqual([
            ["rest", admins.owner.keyId, account, account],
            ["rest", admins.owner.keyId, account, account],
            ["mcp", admins.superadmin.keyId, account, account]
          ])
        }))

      it.effect("is not journaled where an Idempotency-Key answers", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const headers = { "idempotency-key": "one" }
          expect((yield* retire("owner", "Left", headers)).status).toBe(200)
          expect((yield* retire("owner", "Left", headers)).headers.get("idempotent-replayed")).toBe("true")
          expect((yield* retire("owner", "Else", headers)).body.error.code).toBe("idempotency_key_reused")
          expect(yield* entries(id)).toEqual([["account.label_retired", "done", { label, reason: "Left" }]])
        }))

      it.effect("is journaled at most ten times a minute for one credential", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const count = Effect.map(entries(id), (events) => events.length)
          yield* Effect.forEach(Array.from({ length: 12 }), () => retire("owner", label))
          expect(yield* count).toBe(10)
          yield* retire("superadmin", label)
          expect(yield* count).toBe(11)
          yield* TestClock.adjust("1 minute")
          yield* retire("owner", label)
          expect(yield* count).toBe(12)
        }))

      it.effect("answers why where the journal fails", () =>
        Effect.gen(function*() {
          const { id, retire } = yield* make
          const journal = yield* Ports.Journal
          const failing = Ports.Journal.of({ ...journal, refuse: () => Effect.die(new Error("The journal is away")) })
          const refused = yield* Effect.provideService(retire("owner", label), Ports.Journal, failing)
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
            World.send("POST", `/v1/accounts/${of}/take-username`, { key: admins.owner.key, body: { username } })
              .pipe(Effect.provideService(ServedOperations, list))
          expect((yield* take(account)).body.error.code).toBe("no_session")
          expect((yield* take(live)).body.error.code).toBe("username_taken")
          expect((yield* entries(id)).map(([, outcome]) => outcome)).toEqual(["refused", "pending", "failed"])
        }))
    })
  })
})
