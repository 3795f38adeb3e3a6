import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { nextNight, timeZoneNamed } from "../../../src/domain/organization/TimeZone.ts"
import { tried } from "../../support/drawn.ts"

/** Among them zones whose clocks change at midnight, by half an hour, or by a whole day. */
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Havana",
  "America/Asuncion",
  "Asia/Beirut",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia"
]

const hour = 3_600_000
const moments = fc.record({
  zone: fc.constantFrom(...zones),
  share: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
  after: fc.date({ min: new Date("2010-01-01T00:00:00Z"), max: new Date("2030-01-01T00:00:00Z"), noInvalidDate: true }),
  later: fc.double({ min: 0, max: 0.999, noNaN: true })
})

const inZone = (at: Date, zone: string) => {
  const { day, hour, month } = DateTime.toParts(
    DateTime.setZone(DateTime.fromDateUnsafe(at), DateTime.zoneMakeNamedUnsafe(zone))
  )
  return { hour, date: `${month}-${day}` }
}

describe("the next night in a time zone", () => {
  it("begins with the next day there or the present one, and is over at six", () => {
    fc.assert(
      fc.property(moments, ({ after, share, zone }) => {
        const at = nextNight(zone, share, after)
        expect(at.getTime()).toBeGreaterThan(after.getTime())
        expect(at.getTime() - after.getTime()).toBeLessThanOrEqual(26 * hour)
        expect(inZone(at, zone).hour).toBeLessThan(6)
      }),
      tried()
    )
  })

  it("is none that another moment before it does not lead to: each day has one", () => {
    fc.assert(
      fc.property(moments, ({ after, later, share, zone }) => {
        const at = nextNight(zone, share, after)
        const between = new Date(after.getTime() + Math.floor(later * (at.getTime() - after.getTime())))
        expect(nextNight(zone, share, between)).toEqual(at)
        const following = nextNight(zone, share, at)
        expect(inZone(following, zone).date).not.toBe(inZone(at, zone).date)
      }),
      tried()
    )
  })

  it("is longer or shorter where clocks change in it", () => {
    const half = (day: string) => nextNight("Europe/Berlin", 0.5, new Date(`${day}T12:00:00Z`)).toISOString()
    expect(half("2026-03-27")).toBe("2026-03-28T02:00:00.000Z")
    expect(half("2026-03-28")).toBe("2026-03-29T01:30:00.000Z")
    expect(half("2026-10-24")).toBe("2026-10-25T01:30:00.000Z")
  })
})

describe("the name of a time zone", () => {
  it("is taken in any case, and an unknown one is none", () => {
    expect(timeZoneNamed("europe/berlin")).toBe("Europe/Berlin")
    expect(timeZoneNamed("UTC")).toBe("UTC")
    for (const none of ["", "Berlin", "Europe/Nowhere", "+02:00", "Europe/Berlin; drop table"]) {
      expect(timeZoneNamed(none)).toBeNull()
    }
  })
})
