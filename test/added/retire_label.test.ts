import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const label = "Chair"

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { facts: { role_label: label } })
  const { key } = admins.owner
  return {
    id,
    admins,
    account,
    retire: (reason: unknown) => World.send("POST", `/v1/accounts/${account}/retire-label`, { key, body: { reason } }),
    shown: Effect.map(World.get(`/v1/accounts/${account}`, key), ({ body }) => body.role_label)
  }
})

/** The outcome and the details of each of the organization's entries. */
const entries = (organizationId: string) =>
  Effect.map(
    World.journal(organizationId),
    (events) => events.map(({ action, details, outcome }) => [action, outcome, details])
  )

describe("retire_label", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("the next read shows no label, and the other accounts keep theirs", () =>
        Effect.gen(function*() {
          const { account, admins, id, retire, shown } = yield* make
          const other = yield* World.makeAccount(id, { facts: { role_label: label } })
          const done = yield* retire("Left")
          expect([done.status, done.body]).toEqual([
            200,
            { object: "account_action", account_id: account, action: "label_retired" }
          ])
          expect(yield* shown).toBeNull()
          expect((yield* World.get(`/v1/accounts/${other}`, admins.owner.key)).body.role_label).toBe(label)
        }))

      it.effect("a reason has 60 characters at most, counted in code points", () =>
        Effect.gen(function*() {
          const { retire, shown } = yield* make
          for (const reason of ["x".repeat(61), "a\u0000b", 1, null]) {
            expect([reason, ...World.refusal(yield* retire(reason))]).toEqual([
              reason,
              400,
              "parameter_invalid",
              "reason"
            ])
          }
          expect(yield* shown).toBe(label)
          expect((yield* retire("🦊".repeat(60))).status).toBe(200)
        }))

      it.effect("a reason that says the label is refused, and an account that is not active", () =>
        Effect.gen(function*() {
          const { account, id, retire, shown } = yield* make
          expect(World.refusal(yield* retire(label))).toEqual([400, "parameter_invalid", "reason"])
          yield* World.set(id, "account", account, { paused_at: new Date(0) })
          expect(World.refusal(yield* retire("Left"))).toEqual([409, "not_active"])
          expect(yield* shown).toBe(label)
        }))

      it.effect("the journal has the reason and the label, and nothing where there was no label", () =>
        Effect.gen(function*() {
          const { account, admins, id, retire } = yield* make
          for (const reason of ["Left", "Left again"]) expect((yield* retire(reason)).status).toBe(200)
          expect(yield* entries(id)).toEqual([
            ["account.label_retired", "done", { reason: "Left", label }]
          ])
          const events = yield* World.journal(id)
          expect(events.map((event) => [event.actor_admin_id, event.account_id, event.target_id])).toEqual(
            events.map(() => [admins.owner.id, account, account])
          )
        }))

      it.effect("the journal has what was refused once the account was found", () =>
        Effect.gen(function*() {
          const { account, id, retire } = yield* make
          yield* retire("x".repeat(61))
          expect(yield* entries(id)).toEqual([])
          yield* retire(label)
          yield* World.set(id, "account", account, { paused_at: new Date(0) })
          yield* retire("Left")
          expect(yield* entries(id)).toEqual([
            ["account.label_retired", "refused", { code: "parameter_invalid" }],
            ["account.label_retired", "refused", { code: "not_active" }]
          ])
        }))
    })
  })
})
