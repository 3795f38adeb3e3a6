import { assert, describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as LicenceEnds from "../../src/jobs/organization/LicenceEnds.ts"
import * as LicenceStops from "../../src/jobs/organization/LicenceStops.ts"
import { forgetSecrets } from "../../src/jobs/security/forget_secrets.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { Monitors } from "../../src/ports/protection/Monitors.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import * as Outbox from "../support/mail/outbox.ts"
import { act } from "../support/operator/operator.ts"
import { pglite, postgres } from "../support/postgres/database.ts"
import { arrange, start } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import { staged } from "../support/security/offboarding.ts"
import * as World from "../support/world.ts"

const hour = 3_600_000
const day = 24 * hour

const licensed = (id: string, state: "active" | "lapsed") =>
  World.set(id, "organization", id, { managed: true, billing_state: state, valid_until: null })

const organization = ({ admins }: World.Organization) =>
  Effect.map(World.get("/v1/organization", admins.owner.key), ({ body }) => body)

const entriesOf = (id: string) =>
  Effect.map(
    World.journal(id),
    (all) => all.map(({ action, actor_type, details }) => [action, actor_type, details])
  )

const changeStatus = (id: string, what: "activate" | "close" | "suspend") =>
  act((requests) => requests.organizations_change_status({ organization: id, act: what }))

const extend = (id: string, until: Date) =>
  act((requests) =>
    requests.organizations_set({
      organization: id,
      name: null,
      plan: null,
      seats: null,
      valid_until: until,
      open_ended: false
    })
  )

const byAgreement = { managed: false, billing_state: "none", valid_until: new Date(start + hour) }

/** What was mailed, but for the holder's phone that was seen first. */
const mailed = (id: string) =>
  Effect.map(
    Outbox.waiting(id),
    (all) => all.map(({ kind }) => kind).filter((kind) => kind !== "session_detected")
  )

/** What stays of the staged account's protection. */
const left = (stage: Effect.Success<typeof staged>) =>
  Effect.gen(function*() {
    const { monitoring, status } = yield* stage.read
    return {
      authorizations: yield* stage.authorizations,
      isSet: yield* stage.isSet,
      slots: yield* stage.slots,
      identity: (yield* stage.query("messenger_identity")).length,
      shown: [status, monitoring.state]
    }
  })

describe("what time makes of a licence that has ended", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("5.6: a trial that is over lapses once, and the plan has no archive since", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const trial = { billing_state: "trial", plan: null, trial_ends_at: new Date(start + hour) }
        const made = yield* World.makeOrganization(trial)
        const closed = yield* World.makeOrganization({ ...trial, closed_at: new Date(start) })
        yield* TestClock.adjust(hour - 1)
        assert.strictEqual(yield* LicenceEnds.endLicences, 0)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* LicenceEnds.endLicences, 1)
        assert.strictEqual(yield* LicenceEnds.endLicences, 0)
        expect(yield* organization(made)).toMatchObject({
          status: "active",
          protection_active: false,
          plan: { billing_state: "lapsed" }
        })
        const ended = yield* World.query<{ archive_plan_ended_at: Date }>(
          made.id,
          (sql) => sql`select archive_plan_ended_at from organization where id = ${made.id}`
        )
        expect(ended).toEqual([{ archive_plan_ended_at: new Date(start + hour) }])
        expect(yield* entriesOf(made.id)).toEqual([["organization.set", "service", { billing_state: "lapsed" }]])
        expect(yield* entriesOf(closed.id)).toEqual([])
      }))

    it.effect("5.6: a licence that ended 30 days ago suspends until it has a new end, whatever is activated", () =>
      Effect.gen(function*() {
        const made = yield* arrange(byAgreement)
        yield* TestClock.adjust(hour + 30 * day - 1)
        yield* LicenceStops.applyLicences
        assert.strictEqual(yield* LicenceEnds.endLicences, 0)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* LicenceEnds.endLicences, 1)
        assert.strictEqual(yield* LicenceEnds.endLicences, 0)
        expect((yield* organization(made)).status).toBe("suspended")
        expect((yield* entriesOf(made.id)).at(-1)).toEqual(["organization.suspended", "service", { reason: "licence" }])
        expect(yield* changeStatus(made.id, "activate")).toMatch(/give it a new end/)
        yield* extend(made.id, new Date(start + 100 * day))
        expect(yield* organization(made)).toMatchObject({ status: "active", protection_active: true })
        assert.strictEqual(yield* LicenceStops.applyLicences, 1)
        yield* jump("1 second")
        expect((yield* made.read).status).toBe("protected")
      }))

    it.effect("5.6: who an operator has suspended stays so when the licence is back", () =>
      Effect.gen(function*() {
        const made = yield* arrange(byAgreement)
        yield* TestClock.adjust(hour + 30 * day)
        assert.strictEqual(yield* LicenceEnds.endLicences, 1)
        yield* changeStatus(made.id, "suspend")
        yield* extend(made.id, new Date(start + 100 * day))
        expect((yield* organization(made)).status).toBe("suspended")
        yield* changeStatus(made.id, "activate")
        expect((yield* organization(made)).status).toBe("active")
      }))

    it.effect("5.1: after 30 days without a licence what was set is removed and every session logged out", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* licensed(stage.id, "lapsed")
        yield* LicenceStops.applyLicences
        yield* TestClock.adjust(30 * day - 1)
        assert.strictEqual(yield* LicenceEnds.leaveAccounts, 0)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* LicenceEnds.leaveAccounts, 1)
        assert.strictEqual(yield* LicenceEnds.leaveAccounts, 0)
        yield* jump("1 second")
        expect(yield* left(stage)).toEqual({
          authorizations: 0,
          isSet: false,
          slots: [],
          identity: 0,
          shown: ["protection_stopped", "stopped"]
        })
        const reason = { reason: "licence" }
        const events = (yield* World.journal(stage.id)).filter(({ outcome }) => outcome === "done")
        expect(events.slice(-5).map(({ action, actor_type, details }) => [action, actor_type, details])).toEqual([
          ["protection.stopped", "service", reason],
          ["passkey.removed", "service", reason],
          ["two_fa.removed", "service", reason],
          ["session.logged_out", "service", reason],
          ["session.logged_out", "service", reason]
        ])
        const mails = yield* mailed(stage.id)
        expect(mails).toEqual(["protection_stopped"])
        for (const table of ["service_session", "account_task"]) expect(yield* stage.query(table)).toEqual([])

        // The session is lost: a licence that comes back does not bring it back.
        yield* licensed(stage.id, "active")
        yield* LicenceStops.applyLicences
        yield* jump("1 hour")
        const [row] = yield* World.query<{ stop_reason: string; licence_stopped_at: Date | null }>(
          stage.id,
          (sql) => sql`select stop_reason, licence_stopped_at from account where organization_id = ${stage.id}`
        )
        expect(row).toEqual({ stop_reason: "session_lost", licence_stopped_at: null })
        expect((yield* stage.read).status).toBe("protection_stopped")
      }))
  })

  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("5.1: a licence that is back in time leaves everything as it was, paused or closed or not", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* licensed(stage.id, "lapsed")
        yield* LicenceStops.applyLicences
        yield* TestClock.adjust(31 * day)
        yield* licensed(stage.id, "active")
        assert.strictEqual(yield* LicenceEnds.leaveAccounts, 0)
        yield* LicenceStops.applyLicences
        yield* jump("1 second")
        expect(yield* left(stage)).toMatchObject({ authorizations: 2, isSet: true, shown: ["protected", "active"] })

        yield* World.post(`${stage.path}/pause`, stage.admins.owner.key)
        yield* changeStatus(stage.id, "close")
        yield* LicenceStops.applyLicences
        yield* TestClock.adjust(30 * day)
        assert.strictEqual(yield* LicenceEnds.leaveAccounts, 1)
        yield* jump("1 second")
        yield* World.set(stage.id, "organization", stage.id, { closed_at: null })
        expect(yield* left(stage)).toMatchObject({ authorizations: 0, isSet: false, shown: ["paused", "stopped"] })
      }))

    it.effect("5.1, 3.2: what cannot be reached is held for 90 days, which is mailed before; keys go after 30", () =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* licensed(stage.id, "lapsed")
        yield* LicenceStops.applyLicences
        yield* stage.platform.script({ answer: { _tag: "Unavailable" }, times: 100_000, userId: stage.person.userId })
        yield* TestClock.adjust(30 * day)
        yield* LicenceEnds.leaveAccounts
        yield* jump("1 second")
        expect(yield* left(stage)).toMatchObject({
          authorizations: 2,
          identity: 0,
          slots: ["two_fa held", "passkey held"]
        })
        yield* TestClock.adjust(31 * day)
        yield* jump("1 hour")
        yield* jump("1 hour")
        yield* forgetSecrets.run
        expect([yield* stage.query("service_session"), yield* stage.slots]).toEqual([[], ["two_fa held"]])
        yield* TestClock.setTime(start + (30 + 77) * day)
        yield* forgetSecrets.run
        const mails = yield* mailed(stage.id)
        expect(mails).toEqual(["protection_stopped", "secret_unrevealed"])
        yield* TestClock.setTime(start + (30 + 91) * day)
        yield* forgetSecrets.run
        expect([yield* stage.slots, (yield* stage.events).at(-1)]).toEqual([[], "two_fa.erased done"])
      }))

    it.effect("connections of accounts that are not watched any more are closed, and opened again with the licence", () =>
      Effect.gen(function*() {
        const { id, read } = yield* arrange()
        const { closeUnwatched } = yield* Engine
        const open = Effect.map(
          PrometheusMetrics.format(),
          (text) => Number(/^console_live_sessions (\d+)/m.exec(text)?.[1])
        )
        yield* jump("1 minute")
        yield* closeUnwatched
        const before = yield* open
        yield* licensed(id, "lapsed")
        yield* LicenceStops.applyLicences
        yield* closeUnwatched
        expect([yield* open, (yield* read).status]).toEqual([before - 1, "protection_stopped"])
        yield* licensed(id, "active")
        yield* LicenceStops.applyLicences
        yield* jump("1 second")
        yield* closeUnwatched
        expect([yield* open, (yield* read).status]).toEqual([before, "protected"])
      }))

    it.effect("a connection that is taken while it is asked whether anybody watches stays open", () =>
      Effect.gen(function*() {
        const { account, id, sessionRef } = yield* arrange()
        const of = { accountId: AccountId.make(account), organizationId: OrganizationId.make(id) }
        const monitors = yield* Monitors
        let meanwhile: Effect.Effect<unknown> = Effect.void
        const asking = Layer.succeed(Monitors, {
          ...monitors,
          unwatched: (open) => Effect.tap(monitors.unwatched(open), () => meanwhile)
        })
        yield* Effect.gen(function*() {
          const sessions = yield* LiveSessions
          const first = yield* Effect.scoped(sessions.use(of, sessionRef))
          yield* licensed(id, "lapsed")
          yield* LicenceStops.applyLicences
          yield* Effect.scoped(Effect.gen(function*() {
            const scope = yield* Effect.scope
            meanwhile = Effect.orDie(Scope.provide(sessions.use(of, sessionRef), scope))
            yield* sessions.closeUnwatched
            assert.strictEqual(yield* sessions.use(of, sessionRef), first)
          }))
          meanwhile = Effect.void
          yield* sessions.closeUnwatched
          assert.notStrictEqual(yield* Effect.scoped(sessions.use(of, sessionRef)), first)
        }).pipe(Effect.provide(Layer.fresh(Layer.provide(LiveSessions.layer({ maxLive: 9 }), asking)), { local: true }))
      }))
  })
})
