import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sampled } from "../support/drawn.ts"
import { postgres } from "../support/postgres/database.ts"
import { planOf, play } from "../support/properties/watch/play.ts"
import * as Stage from "../support/properties/watch/stage.ts"

/** More of them are played by `npm run properties`. */
const accounts = 4

describe("12.6 random sequences over the engine, the operations and the database", () => {
  layer(Stage.layer(postgres))((it) => {
    it.effect(
      "hold I1 to I10 of the watch, whatever happens outside, is asked for, fails or dies",
      () =>
        Effect.gen(function*() {
          const { seed } = sampled(1)
          const { findings, sent } = yield* play(planOf(1000 * seed, accounts))
          assert.deepStrictEqual(findings, [])
          assert.isAbove(sent, 10)
        }),
      180_000
    )
  })
})
