import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { pglite } from "../support/database.ts"
import { sampled } from "../support/drawn.ts"
import { planOf, play } from "../support/laws/watch/play.ts"
import * as Stage from "../support/laws/watch/stage.ts"

/** More of them are played by `npm run laws`. */
const rounds = 2
const accounts = 15

describe("12.6 random sequences over the engine, the operations and the database", () => {
  layer(Stage.layer(pglite))((it) => {
    it.effect(
      "hold I1 to I10 of the watch, whatever happens outside, is asked for, fails or dies",
      () =>
        Effect.gen(function*() {
          const { seed } = sampled(rounds)
          let signedOut = 0
          for (let round = 0; round < rounds; round++) {
            const { findings, sent } = yield* play(planOf(1000 * seed + round, accounts))
            assert.deepStrictEqual(findings, [], `round ${round}`)
            signedOut += sent
          }
          assert.isAbove(signedOut, 20)
        }),
      180_000
    )
  })
})
