import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as StatusSamples from "../../../../src/layers/sql/accounts/StatusSamples.ts"
import { forEachDatabase } from "../../../support/postgres/database.ts"
import { at, day } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

const minute = 60_000

const samples = (organizationId: string, from: Date) =>
  World.query<{ at: Date; accounts: Record<string, number> }>(
    organizationId,
    (sql) => StatusSamples.since(sql, organizationId, from)
  )

describe("samples of the statuses", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("one is kept for each organization whose accounts changed, whichever process takes it", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(at(7 * minute).getTime())
          const [one, other, empty] = yield* Effect.all([
            World.makeOrganization(),
            World.makeOrganization(),
            World.makeOrganization()
          ])
          const account = yield* World.makeAccount(one.id)
          yield* World.makeAccount(one.id, { facts: { paused_at: at(0) } })
          yield* World.makeAccount(other.id)
          yield* Effect.all([StatusSamples.take, StatusSamples.take], { concurrency: "unbounded" })
          const first = { at: at(0), accounts: { paused: 1, protected: 1 } }
          expect(yield* samples(one.id, at(0))).toEqual([first])
          expect(yield* samples(other.id, at(0))).toEqual([{ at: at(0), accounts: { protected: 1 } }])
          expect(yield* samples(empty.id, at(0))).toEqual([])
          // The same moment once more, and a later one at which nothing has changed.
          yield* World.set(one.id, "account", account, { offboarded_at: at(0) })
          yield* StatusSamples.take
          expect(yield* samples(one.id, at(0))).toEqual([first])
          yield* TestClock.setTime(at(21 * minute).getTime())
          yield* StatusSamples.take
          expect(yield* samples(one.id, at(0))).toEqual([first, {
            at: at(20 * minute),
            accounts: { available: 1, paused: 1 }
          }])
          expect((yield* samples(other.id, at(0))).length).toBe(1)
        }))

      it.effect("the samples for the last 30 days are kept, also where nothing has changed since before", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(at(0).getTime())
          const { id } = yield* World.makeOrganization()
          yield* World.makeAccount(id)
          yield* World.sample(id, [-50, -40, -31, -10].map((days) => [at(days * day), { protected: 1 }] as const))
          yield* StatusSamples.take
          const kept = (yield* samples(id, at(-60 * day))).map(({ at }) => at)
          expect(kept).toEqual([at(-31 * day), at(-10 * day)])
          // The one before tells of the beginning of what is asked for.
          expect((yield* samples(id, at(-20 * day))).map(({ at }) => at)).toEqual(kept)
          expect((yield* samples(id, at(-5 * day))).map(({ at }) => at)).toEqual([at(-10 * day)])
        }))
    })
  })
})
