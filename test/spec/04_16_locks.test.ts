import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { advance, forgetOthers } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const hour = 3_600_000
const start = Date.UTC(2026, 2, 2, 12)

/** An account that has been watched for long, with such facts. */
const staged = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  const platform = yield* SimulatedPlatform
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { key } = admins.owner
  const ago = (hours: number) => new Date(start - hours * hour)
  const { id: account, userId } = yield* World.makeLiveAccount(id, {}, {
    facts: { connected_at: ago(120), enrolled_at: ago(120), enforcement_active_at: ago(96), ...facts }
  })
  yield* advance("2 minutes")
  return {
    admins,
    id,
    key,
    account,
    read: Effect.map(World.get(`/v1/accounts/${account}`, key), ({ body }) => body),
    release: World.post(`/v1/accounts/${account}/takeover-lock/release`, key),
    setLock: (enabled: boolean) => World.put(`/v1/accounts/${account}/security-lock`, key, { enabled }),
    signIn: platform.logIn(userId, { device_model: "Pixel 9", app_name: "Messenger" }),
    actions: Effect.map(World.journal(id), (all) => all.map(({ action }) => action))
  }
})

const summaryOf = ({ body, status }: World.Answer) => [status, body.action ?? body.error.code]

describe("4.16, 10.6 locks", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      const locked = { takeover_stopped_at: new Date(start), locked_at: new Date(start), lock_reason: "two_fa" }

      it.effect("under a takeover lock whoever signs in is signed out at once; once it is released, the holder stays", () =>
        Effect.gen(function*() {
          const { actions, read, release, signIn } = yield* staged(locked)
          yield* signIn
          expect(yield* advance("2 minutes")).toBe(1)
          expect(summaryOf(yield* release)).toEqual([200, "takeover_lock_released"])
          expect((yield* actions).at(-1)).toBe("takeover.lock_released")
          const after = yield* read
          expect([after.tamper, after.status]).toEqual([{ locked_at: null, reason: null }, "hijack_blocked"])
          expect(summaryOf(yield* release)).toEqual([409, "not_locked"])
          yield* signIn
          expect(yield* advance(Duration.hours(11))).toBe(0)
          expect((yield* read).sessions).toHaveLength(2)
        }))

      it.effect("under a security lock strangers are signed out on sight, and those seen before keep their deadlines", () =>
        Effect.gen(function*() {
          const { actions, key, read, setLock, signIn, account } = yield* staged()
          yield* signIn
          yield* advance("2 minutes")
          expect(summaryOf(yield* setLock(true))).toEqual([200, "security_lock_enabled"])
          expect(yield* advance("2 minutes")).toBe(0)
          yield* signIn
          expect(yield* advance("2 minutes")).toBe(1)
          expect((yield* read).security_lock).toEqual({ enabled: true })
          const before = yield* actions
          expect(summaryOf(yield* setLock(true))).toEqual([200, "security_lock_enabled"])
          expect(yield* actions).toEqual(before)
          expect(summaryOf(yield* setLock(false))).toEqual([200, "security_lock_disabled"])
          yield* World.post(`/v1/accounts/${account}/pause`, key)
          expect(summaryOf(yield* setLock(true))).toEqual([409, "not_active"])
        }))

      it.effect("the takeover lockdown is the organization's, and turning it on signs nothing out", () =>
        Effect.gen(function*() {
          const { actions, admins, key, signIn } = yield* staged()
          const set = (enabled: boolean, by = key) => World.put("/v1/settings/takeover-lockdown", by, { enabled })
          const off = yield* set(false)
          expect([off.status, off.body.object, off.body.tamper_lockdown_enabled]).toEqual([200, "organization", false])
          expect((yield* World.get("/v1/organization", key)).body).toEqual(off.body)
          const before = yield* actions
          expect((yield* set(false)).body).toEqual(off.body)
          expect(yield* actions).toEqual(before)
          yield* signIn
          yield* advance("2 minutes")
          expect((yield* set(true)).body.tamper_lockdown_enabled).toBe(true)
          expect((yield* actions).at(-1)).toBe("takeover_lockdown.set")
          expect(yield* advance("2 minutes")).toBe(0)
          expect(World.refusal(yield* set(false, admins.admin.key))).toEqual([403, "superadmin_required"])
        }))
    })
  })
})
