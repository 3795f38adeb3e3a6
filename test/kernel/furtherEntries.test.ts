import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AccountAction, TargetAccount } from "../../src/domain/accounts/Account.ts"
import { Text } from "../../src/domain/JsonShapes.ts"
import { maxRoleLabelLength } from "../../src/domain/Limits.ts"
import { everyone } from "../../src/domain/people/Access.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import { operations } from "../added/index.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const noted = { action: "account.reason_noted", target: "account" } as const

/** An operation with two entries beside its own, the last of which may be one that the journal does not take. */
const noteReason = Operation.write(
  "note_reason",
  {
    summary: "Take an account's label away, and note why twice.",
    method: "POST",
    path: "/v1/accounts/:account_id/note-reason",
    toolset: "accounts",
    scope: "accounts:write",
    roles: everyone,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: { reason: Text(maxRoleLabelLength).annotateKey({ description: "Why, such as Left the board." }) },
    success: AccountAction,
    sample: {
      request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", reason: "Left the board" },
      answer: { object: "account_action", account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", action: "noted" }
    },
    journal: { action: "account.noted", target: "account" }
  },
  Effect.fnUntraced(function*({ account_id, reason }, { account, caller }) {
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
      { object: "account_action" as const, account_id, action: "noted" },
      {},
      undefined,
      [further(1), further(2)]
    )
  })
)

const list: Operation.List = [...operations, noteReason]

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { facts: { role_label: "Chair" } })
  const note = (reason: string) =>
    World.send("POST", `/v1/accounts/${account}/note-reason`, { key: admins.owner.key, body: { reason } })
      .pipe(Effect.provideService(ServedOperations, list))
  return { id, account, note }
})

describe("the further entries of a change", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("follow its own in their order", () =>
        Effect.gen(function*() {
          const { account, id, note } = yield* make
          expect((yield* note("Left")).status).toBe(200)
          const events = yield* World.journal(id)
          expect(events.map(({ action, details, outcome }) => [action, outcome, details])).toEqual([
            ["account.noted", "done", {}],
            ["account.reason_noted", "done", { reason: "Left", part: 1 }],
            ["account.reason_noted", "done", { reason: "Left", part: 2 }]
          ])
          expect(events.map(({ account_id, target_id }) => [account_id, target_id])).toEqual(
            events.map(() => [account, account])
          )
        }))

      it.effect("take it and the entries before with them where the last one fails", () =>
        Effect.gen(function*() {
          const { id, note } = yield* make
          const before = yield* World.snapshot(id)
          expect((yield* note("break")).status).toBe(500)
          expect(yield* World.snapshot(id)).toEqual(before)
        }))
    })
  })
})
