import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import {
  ChosenTierDays,
  daysOf,
  isSameKept,
  isShorter,
  keepsAll,
  keptDays,
  keptWords
} from "../../../src/domain/archive/Retention.ts"
import { Tier } from "../../../src/domain/organization/Organization.ts"
import { tried } from "../../support/drawn.ts"

const days = fc.option(fc.integer({ min: 30, max: 34 }))
const chosen = fc.record({ protect: days, archive: days, governance: days }, { requiredKeys: [] })
const kept = fc.tuple(days, chosen).map(([all, own]) => keptDays(all, own))
const tiers = [null, ...Tier.literals]

describe("the days of a retention", () => {
  it("are the longest of those of all accounts and of the account's tier, and null is for good", () => {
    fc.assert(
      fc.property(days, chosen, fc.constantFrom(...tiers), (all, own, tier) => {
        const one = keptDays(all, own)
        const chosen = tier !== null && tier in own ? [all, own[tier]] : [all]
        const longest = Math.max(...chosen.map((each) => each ?? Infinity))
        expect(daysOf(one, tier) ?? Infinity).toBe(longest)
        expect(keepsAll(one)).toBe(
          [one.days, ...Tier.literals.map((each) => daysOf(one, each))].every((each) => each === null)
        )
      }),
      tried()
    )
  })

  it("are shorter where accounts of some tier are kept for less time, and never than themselves", () => {
    fc.assert(
      fc.property(kept, kept, (one, other) => {
        const all = tiers.map((tier) => [daysOf(one, tier) ?? Infinity, daysOf(other, tier) ?? Infinity] as const)
        expect(isShorter(one, other)).toBe(all.some(([mine, theirs]) => mine < theirs))
        expect([isShorter(one, one), isSameKept(one, one)]).toEqual([false, true])
        expect(isShorter(one, null)).toBe(!keepsAll(one))
      }),
      tried()
    )
  })

  it("are written in words, and are 30 to 36500", () => {
    expect(keptWords(keptDays(365, { governance: null, archive: 730, protect: 365 }))).toBe(
      "365 days; archive: 730 days; governance: for good"
    )
    const isValid = Schema.is(ChosenTierDays)
    expect([{}, { archive: null }, { protect: 30 }, { governance: 36_500 }].every((each) => isValid(each))).toBe(true)
    expect([{ archive: 29 }, { archive: 36_501 }, { archive: 30.5 }].some((each) => isValid(each))).toBe(false)
  })
})
