import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { lossesReportedAlone } from "../../src/domain/Limits.ts"
import * as LicenceStops from "../../src/jobs/organization/LicenceStops.ts"
import * as Worker from "../../src/layers/Worker.ts"
import * as Outbox from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import { start } from "../support/protection/watched.ts"
import * as World from "../support/world.ts"

const lapse = (id: string, state: "active" | "lapsed") =>
  World.set(id, "organization", id, { managed: true, billing_state: state, valid_until: null })

/** An organization of so many accounts, of which some have been stopped by something else. */
const crowd = Effect.fnUntraced(function*(accounts: number, stopped: number) {
  yield* TestClock.setTime(start)
  const { id } = yield* World.makeOrganization({ seat_limit: 1000, licences_governance: 1000 })
  const lost = { stopped_at: new Date(start), stop_reason: "session_lost", monitoring_state: "stopped" }
  for (let at = 0; at < accounts; at++) {
    yield* World.makeAccount(id, { facts: { connected_at: new Date(1_000), ...(at < stopped ? lost : {}) } })
  }
  return id
})

const entriesOf = (id: string) =>
  Effect.map(
    World.journal(id),
    (all) =>
      all.filter(({ action }) => action.startsWith("protection.")).map(({ action, details, target_type }) => [
        action,
        target_type,
        details
      ])
  )

describe("5.1 a licence that ends and comes back", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("is reported for many accounts in one event and one mail, only for those that it stops and restores", () =>
      Effect.gen(function*() {
        const id = yield* crowd(503, 2)
        yield* lapse(id, "lapsed")
        yield* LicenceStops.applyLicences
        const stopped = ["protection.stopped", "organization", { reason: "licence", accounts: 501 }]
        expect(yield* entriesOf(id)).toEqual([stopped])
        expect((yield* Outbox.waiting(id)).map(({ kind }) => kind)).toEqual(["protection_stopped_widely"])
        yield* lapse(id, "active")
        yield* LicenceStops.applyLicences
        expect(yield* entriesOf(id)).toEqual([stopped, ["protection.restored", "organization", { accounts: 501 }]])
      }))

    it.effect("is reported for each account where it stops few, however many there are", () =>
      Effect.gen(function*() {
        const id = yield* crowd(lossesReportedAlone + 2, lossesReportedAlone)
        yield* lapse(id, "lapsed")
        yield* LicenceStops.applyLicences
        const stopped = Array.from({ length: 2 }, () => ["protection.stopped", "account", { reason: "licence" }])
        expect(yield* entriesOf(id)).toEqual(stopped)
        expect((yield* Outbox.waiting(id)).length).toBe(2)
        yield* lapse(id, "active")
        yield* LicenceStops.applyLicences
        expect(yield* entriesOf(id)).toEqual([...stopped, ...stopped.map(() => ["protection.restored", "account", {}])])
      }))
  })
})
