import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Captured from "../support/archive/captured.ts"
import { makeRule } from "../support/archive/rules.ts"
import { pglite } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** A chat that a rule archives, after a run; what the account's archive does, and how many chats are selected. */
const stage = Effect.fnUntraced(function*() {
  const staged = yield* Captured.stageCapture()
  const { key } = staged.admins.owner
  const rule = yield* makeRule(staged.id, "any")
  yield* Captured.converse(staged, 1)
  yield* Captured.runs
  return {
    staged,
    decide: (effect: string) => World.send("PATCH", `/v1/archive/rules/${rule}`, { key, body: { effect } }),
    backUp: World.send("POST", `/v1/accounts/${staged.account.id}/archive/backup`, { key }),
    shown: Effect.map(
      World.get(`/v1/accounts/${staged.account.id}`, key),
      ({ body: { archive } }) => [archive.status, archive.chats.selected]
    )
  }
})

describe("what the archive of an account does", () => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("follows from the rules as soon as they change, before any run", () =>
      Effect.gen(function*() {
        const { decide, shown } = yield* stage()
        expect(yield* shown).toEqual(["idle", 1])
        yield* decide("skip")
        expect(yield* shown).toEqual(["disabled", 0])
        yield* decide("archive")
        expect(yield* shown).toEqual(["idle", 1])
      }))

    it.effect("is to wait since an admin asked for a run, also where that had to wait for the messenger", () =>
      Effect.gen(function*() {
        const { backUp, shown, staged } = yield* stage()
        const queuedAt = World.query<{ at: Date | null }>(
          staged.id,
          (sql) => sql`select archive_queued_at as at from archive_state where organization_id = ${staged.id}`
        )
        yield* backUp
        const asked = yield* queuedAt
        const platform = yield* SimulatedPlatform
        yield* platform.script({ operation: "read_chats", answer: { _tag: "Busy", seconds: 600 } })
        yield* TestClock.adjust("10 seconds")
        yield* Captured.runs
        expect(yield* shown).toEqual(["queued", 1])
        expect(yield* queuedAt).toEqual(asked)
        yield* TestClock.adjust("10 minutes")
        yield* Captured.runs
        expect(yield* shown).toEqual(["idle", 1])
      }))

    it.effect("is no more to wait once the run that an admin asked for has found the account paused", () =>
      Effect.gen(function*() {
        const { backUp, shown, staged } = yield* stage()
        yield* backUp
        yield* World.send("POST", `/v1/accounts/${staged.account.id}/pause`, { key: staged.admins.owner.key })
        yield* Captured.runs
        expect(yield* shown).toEqual(["idle", 1])
      }))
  })
})
