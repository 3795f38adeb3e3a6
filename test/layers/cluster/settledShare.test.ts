import { describe, expect, it } from "@effect/vitest"
import { SettledShare } from "../../../src/layers/cluster/SettledShare.ts"

describe("the share of slots that a process reports", () => {
  const reported = (shares: ReadonlyArray<readonly [slots: number, rounds: number]>) => {
    const share = new SettledShare()
    return shares.flatMap(([slots, rounds]) =>
      Array.from({ length: rounds }, () => share.round(slots)).filter((said) => said !== null)
    )
  }

  it("is named once it has settled, each time that it is another one", () => {
    expect(reported([[0, 30], [400, 3], [512, 60], [600, 2], [512, 60], [1024, 60], [0, 60]])).toEqual([512, 1024, 0])
  })

  it("is not named while slots are passed on", () => {
    expect(reported(Array.from({ length: 40 }, (_, place) => [512 + place, 5]))).toEqual([])
  })
})
