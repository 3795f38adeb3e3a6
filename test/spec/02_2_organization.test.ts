import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { forSpecification } from "../support/postgres/database.ts"
import { at, day, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

/** An organization with these facts, and what its owner reads of it. */
const read = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  yield* TestClock.setTime(now.getTime())
  const organization = yield* World.makeOrganization(facts)
  const show = Effect.map(World.get("/v1/organization", organization.admins.owner.key), ({ body }) => body)
  return { ...organization, show, body: yield* show }
})

describe("2.2 organization", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.2-01, S2.2-02: shows what it is, by the id that an admin types at sign-in", () =>
        Effect.gen(function*() {
          const { body, id } = yield* read({ name: "Acme & Söhne" })
          assert.deepStrictEqual(body, {
            object: "organization",
            id,
            name: "Acme & Söhne",
            status: "active",
            valid_until: null,
            protection_active: true,
            plan: {
              billing_state: "active",
              managed: true,
              plan: "governance",
              period: "annual",
              licences: { protect: 0, archive: 0, governance: 100 }
            },
            seats: { limit: 100, used: 0, reserved: 0, free: 100 },
            archive: { key_set: true, plan: true, readable: false, writable: true, phase: "empty" },
            tamper_lockdown_enabled: true
          })
          const off = yield* read({ tamper_lockdown_enabled: false })
          assert.isFalse(off.body.tamper_lockdown_enabled)
        }))

      it.effect("S2.2-03: status is active, pending or suspended, and each of them is served", () =>
        Effect.gen(function*() {
          for (const status of ["active", "pending", "suspended"]) {
            const { body } = yield* read({ status })
            assert.strictEqual(body.status, status)
            assert.strictEqual(body.protection_active, status === "active")
          }
        }))

      it.effect("S2.2-03, S2.2-06, S3.2-01: no other status, billing state, plan or period can be stored", () =>
        Effect.gen(function*() {
          const { id } = yield* read()
          for (const column of ["status", "billing_state", "plan", "period", "notification_recipients"]) {
            const exit = yield* Effect.exit(World.set(id, "organization", id, { [column]: "other" }))
            assert.strictEqual(exit._tag, "Failure", column)
          }
        }))

      it.effect("S2.2-04: valid_until is the end of an agreement, and null when open-ended or billed", () =>
        Effect.gen(function*() {
          const valid_until = at(day)
          const agreed = yield* read({ managed: false, billing_state: "none", valid_until })
          assert.strictEqual(agreed.body.valid_until, "2026-03-03T12:00:00.000Z")
          const open = yield* read({ managed: false, billing_state: "none", valid_until: null })
          assert.isNull(open.body.valid_until)
          const billed = yield* read({ managed: true, valid_until })
          assert.isNull(billed.body.valid_until)
        }))

      it.effect("S2.2-05: protection is active until the end of valid_until or of the trial, and not from then on", () =>
        Effect.gen(function*() {
          for (
            const facts of [
              { managed: false, billing_state: "none", valid_until: at(day) },
              { billing_state: "trial", plan: null, period: null, trial_ends_at: at(day) }
            ]
          ) {
            const { show } = yield* read(facts)
            yield* TestClock.setTime(now.getTime() + day - 1)
            assert.isTrue((yield* show).protection_active)
            yield* TestClock.setTime(now.getTime() + day)
            assert.isFalse((yield* show).protection_active)
          }
        }))

      it.effect("S2.2-06, S2.2-08, S2.2-09: shows each billing state, and plan, period and licences while paid for", () =>
        Effect.gen(function*() {
          for (const billing_state of ["none", "trial", "active", "retry", "lapsed"]) {
            const { body } = yield* read({ billing_state })
            const paid = billing_state === "active" || billing_state === "retry"
            assert.deepStrictEqual(body.plan, {
              billing_state,
              managed: true,
              plan: paid ? "governance" : null,
              period: paid ? "annual" : null,
              licences: paid ? { protect: 0, archive: 0, governance: 100 } : null
            })
            assert.strictEqual(body.protection_active, paid || billing_state === "trial")
          }
        }))

      it.effect("S2.2-07, S2.2-08: shows every plan and period, and that an agreement is not managed", () =>
        Effect.gen(function*() {
          for (const plan of ["protect", "archive", "governance"]) {
            for (const period of ["monthly", "annual"]) {
              const { body } = yield* read({ plan, period })
              assert.deepStrictEqual([body.plan.plan, body.plan.period, body.plan.managed], [plan, period, true])
            }
          }
          const agreed = yield* read({ managed: false, billing_state: "none", plan: "archive", period: null })
          assert.deepStrictEqual(
            [agreed.body.plan.plan, agreed.body.plan.period, agreed.body.plan.managed],
            ["archive", null, false]
          )
        }))

      it.effect("S2.2-14, S2.2-15: key_set is false until the password is set, and until then nothing can be archived", () =>
        Effect.gen(function*() {
          const { body, id, show } = yield* read({ archive_key_set: false, archive_first_record_at: at(-day) })
          assert.deepStrictEqual(body.archive, {
            key_set: false,
            plan: true,
            readable: false,
            writable: false,
            phase: "active"
          })
          yield* World.set(id, "organization", id, { archive_key_set: true })
          assert.deepStrictEqual((yield* show).archive, {
            key_set: true,
            plan: true,
            readable: true,
            writable: true,
            phase: "active"
          })
        }))

      it.effect("S2.2-16: shows every phase of the archive from what is stored", () =>
        Effect.gen(function*() {
          const recorded = { archive_first_record_at: at(-100 * day) }
          const ended = (days: number) => ({
            ...recorded,
            billing_state: "lapsed",
            archive_plan_ended_at: at(-days * day)
          })
          const phases: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
            ["empty", {}],
            ["active", recorded],
            ["readonly", ended(1)],
            ["closed", ended(31)],
            ["deleting", ended(91)],
            ["deleting", { ...recorded, archive_deletion_started_at: at(-1) }],
            ["held", { ...ended(31), archive_held_at: at(-1) }],
            ["deleted", { archive_deletion_started_at: at(-2), archive_deleted_at: at(-1) }]
          ]
          for (const [phase, facts] of phases) {
            const { body } = yield* read(facts)
            assert.strictEqual(body.archive.phase, phase)
          }
        }))
    })
  })
})
