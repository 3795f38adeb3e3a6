import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as Mcp from "../mcp/support.ts"
import { postgresUrl } from "../support/database.ts"
import { postgresLayer } from "../support/databaseRoles.ts"
import * as Isolation from "../support/laws/isolation.ts"
import * as Monotonicity from "../support/laws/monotonicity.ts"
import { oversee } from "../support/laws/rewind.ts"
import { make } from "../support/laws/stage.ts"
import * as World from "../support/world.ts"

const superuserUrl = (owner: string): string => {
  const url = new URL(inject("databases").adminUrl)
  url.pathname = new URL(owner).pathname
  return url.href
}

const staged = Effect.fnUntraced(function*(organizations: number) {
  const sql = yield* SqlClient.SqlClient
  const [database] = yield* sql<{ name: string }>`select current_database()::text as name`
  const overseer = yield* Effect.acquireRelease(
    Effect.promise(() => oversee(superuserUrl(`postgres://host/${database?.name}`))),
    (overseer) => Effect.promise(() => overseer.end())
  )
  return yield* make(overseer, organizations)
})

const prepared = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Mcp.webHandler(), (handler) => Effect.provideService(effect, World.Prepared, handler))

const database = Layer.unwrap(Effect.map(postgresUrl, postgresLayer))

describe("1 sequences of requests", () => {
  layer(World.world(database))((it) => {
    it.effect("what an organization is told and has is a function of its own requests alone", () =>
      prepared(Effect.gen(function*() {
        const stage = yield* staged(Isolation.organizations)
        let compared = 0
        for (const sequence of yield* Arbitrary.sampleEffect(Isolation.sequences, { count: 60, seed: 1 })) {
          compared += (yield* Isolation.compare(stage, sequence)).comparisons
        }
        expect(compared).toBeGreaterThan(60)
      })))
  })

  layer(World.world(database))((it) => {
    it.effect("who may less is shown and permitted no more, and what is revoked is refused at the next request", () =>
      prepared(Effect.gen(function*() {
        const stage = yield* staged(1)
        let compared = 0
        for (const sequence of yield* Arbitrary.sampleEffect(Monotonicity.sequences, { count: 80, seed: 1 })) {
          compared += (yield* Monotonicity.compare(stage, sequence)).comparisons
        }
        expect(compared).toBeGreaterThan(80)
      })))
  })
})
