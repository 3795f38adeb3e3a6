import { describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { tried } from "../../support/drawn.ts"
import { acts, setting } from "../../support/protection/acts.ts"
import { play } from "../../support/protection/play.ts"

describe("12.6 what is decided", () => {
  it("is what the rules say, whatever happens outside, is asked for, fails or is cut off", () => {
    fc.assert(
      fc.property(setting, acts, (setting, acts) => {
        play(setting, acts)
      }),
      tried(10_000)
    )
  }, 240_000)
})
