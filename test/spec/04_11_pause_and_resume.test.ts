import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const now = new Date("2026-11-20T12:00:00.000Z")
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const pathOf = (id: string, action: "pause" | "resume") => `/v1/accounts/${id}/${action}`

/** Facts of accounts that are active, though not all well. */
const active: Record<string, Record<string, unknown>> = {
  protected: {},
  recently_connected: { connected_at: hours(-1), enforcement_active_at: hours(23) },
  hijack_blocked: { takeover_stopped_at: hours(-1) },
  status_unknown: { monitoring_state: "unknown" },
  protection_stopped: { stopped_at: hours(-1), stop_reason: "session_lost", monitoring_state: "stopped" }
}

const statusOf = (id: string, key: World.Asking["key"] & {}) =>
  Effect.map(World.get(`/v1/accounts/${id}`, key), ({ body }) => body.status)

describe("4.11 pause_protection, 4.12 resume_protection", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.11-01, S4.12-01: takes no body, answers the action and the status, and the account reads the same", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.getTime())
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          for (const [status, facts] of Object.entries(active)) {
            const id = yield* World.makeAccount(organization.id, { facts })
            expect(yield* statusOf(id, key)).toBe(status)
            for (
              const [action, journaled, after] of [["pause", "paused", "paused"], [
                "resume",
                "resumed",
                "protected"
              ]] as const
            ) {
              const path = pathOf(id, action)
              for (const [query, body] of [["?reason=x", undefined], ["", { reason: "x" }]] as const) {
                const refused = yield* World.send(
                  "POST",
                  `${path}${query}`,
                  body === undefined ? { key } : { key, body }
                )
                expect(World.refusal(refused)).toEqual([400, "parameter_invalid", "reason"])
              }
              const answer = yield* World.post(path, key)
              expect([answer.status, answer.body]).toEqual([200, {
                object: "account_action",
                account_id: id,
                action: journaled,
                status: after
              }])
              expect(yield* statusOf(id, key)).toBe(after)
            }
          }
          const id = yield* World.makeAccount(organization.id)
          expect((yield* World.send("POST", pathOf(id, "pause"), { key, body: {} })).status).toBe(200)
        }))

      it.effect("S4.11-02, S4.12-02: pause answers not_active unless the account is active, resume not_paused unless it is paused", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.getTime())
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const make = (facts: Record<string, unknown>) => World.makeAccount(organization.id, { facts })
          const paused = yield* make({ paused_at: hours(-1) })
          const gone = yield* make({ offboarded_at: hours(-1) })
          const both = yield* make({ paused_at: hours(-2), offboarded_at: hours(-1) })
          const well = yield* Effect.forEach(Object.values(active), make)
          const before = yield* World.snapshot(organization.id)
          for (const id of [paused, gone, both]) {
            expect(World.refusal(yield* World.post(pathOf(id, "pause"), key))).toEqual([409, "not_active"])
          }
          for (const id of [gone, both, ...well]) {
            expect(World.refusal(yield* World.post(pathOf(id, "resume"), key))).toEqual([409, "not_paused"])
          }
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }))

      it.effect("S4.11-04: pausing ends no session of the service, keeps the account's licence and frees no seat", () =>
        Effect.gen(function*() {
          const platform = yield* SimulatedPlatform
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          const account = yield* World.makeLiveAccount(organization.id, {}, {
            facts: { joined_at: new Date(0), licence_tier: "governance" }
          })
          yield* World.addRows("session", organization.id, [
            { account_id: account.id, id: "1", service: true, current: true, seen_at: new Date(0) }
          ])
          const profile = World.get(`/v1/accounts/${account.id}/messenger-profile`, key)
          const read = Effect.map(World.get(`/v1/accounts/${account.id}`, key), ({ body }) => body)
          const before = [yield* profile, yield* read] as const
          const calls = (yield* platform.calls).length
          expect((yield* World.post(pathOf(account.id, "pause"), key)).status).toBe(200)
          expect((yield* platform.calls).length).toBe(calls)
          const paused = yield* read
          expect(paused).toMatchObject({
            status: "paused",
            licence: before[1].licence,
            licence_tier: "governance",
            sessions: before[1].sessions,
            terminations: [],
            joined_at: before[1].joined_at,
            offboarded_at: null
          })
          expect((yield* profile).body).toEqual(before[0].body)
          expect((yield* World.get("/v1/organization", key)).body.seats).toMatchObject({ used: 1, free: 99 })
          expect((yield* World.post(pathOf(account.id, "resume"), key)).status).toBe(200)
          expect((yield* profile).body).toEqual(before[0].body)
        }))
    })
  })
})
