import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { everySlot } from "../../src/domain/accounts/Slot.ts"
import * as LicenceStops from "../../src/jobs/organization/LicenceStops.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Monitors } from "../../src/ports/protection/Monitors.ts"
import * as Fixtures from "../support/fixtures.ts"
import { untilBlocked } from "../support/postgres/blocked.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import * as World from "../support/world.ts"

describe("12.4 the order in which monitors are locked", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    for (const first of ["finished looks", "the licence job"] as const) {
      it.effect(`lets finished looks and the licence job wait, never for each other: ${first} before`, () =>
        Effect.gen(function*() {
          const organization = yield* arrange()
          const { id } = organization
          const ids = [organization.account, (yield* makeWatched(organization)).account].toSorted()
          const [low, high] = ids
          if (low === undefined || high === undefined) return assert.fail("too few accounts")
          // A table that is read as it lies on the disk gives the higher id first.
          for (const account of [high, low]) yield* World.set(id, "monitor", account, { next_at: new Date(0) })
          const monitors = yield* Monitors
          const { accounts: claimed } = yield* monitors.claim({ slots: everySlot, free: 9, room: 9, rooms: new Map() })
          assert.sameMembers(claimed.map(({ accountId }) => accountId), ids)
          const byId = claimed.toSorted((one, other) => one.accountId < other.accountId ? 1 : -1)
          yield* World.set(id, "organization", id, { managed: true, billing_state: "lapsed", valid_until: null })
          const held = yield* Deferred.make<void>()
          const release = yield* Deferred.make<void>()
          const holder = yield* Effect.forkChild(
            Fixtures.within(
              id,
              Effect.gen(function*() {
                const sql = yield* SqlClient.SqlClient
                yield* Effect.orDie(sql`select from monitor where account_id = ${low} for update`)
                yield* Deferred.succeed(held, undefined)
                yield* Deferred.await(release)
              })
            )
          )
          yield* Deferred.await(held)
          const finish = monitors.finish(byId.map((one) => ({ ...one, next_at: new Date(0) })))
          const both = first === "finished looks"
            ? [finish, LicenceStops.applyLicences]
            : [LicenceStops.applyLicences, finish]
          const waiting: Array<Fiber.Fiber<unknown, unknown>> = []
          for (const [place, work] of both.entries()) {
            waiting.push(yield* Effect.forkChild(work))
            yield* untilBlocked(place + 1)
          }
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(holder)
          for (const fiber of waiting) yield* Fiber.join(fiber)
          const rows = yield* World.query<{ busy: boolean; watched: boolean }>(
            id,
            (sql) =>
              sql`select busy_by is not null as busy, next_at is not null as watched from monitor
                where organization_id = ${id}`
          )
          assert.deepStrictEqual(rows, [{ busy: false, watched: false }, { busy: false, watched: false }])
        }))
    }
  })
})
