import { describe, expect, it } from "@effect/vitest"
import { isPossible, shown, typed } from "../../../src/domain/logins/PhoneNumber.ts"

describe("a phone number", () => {
  it("is taken where its country exists and it has all of its digits, whether or not it is assigned", () => {
    for (const number of ["+12025550143", "+31612340001", "+4900000000", "+442079460000", "+8613800000000"]) {
      expect([number, isPossible(number)]).toEqual([number, true])
    }
    for (const number of ["+1202555014", "+120255501433", "+999123456789", "+0155501000", "12025550143"]) {
      expect([number, isPossible(number)]).toEqual([number, false])
    }
  })

  it("is taken where it is the messenger's own: anonymous, or of its test service", () => {
    expect(["+88812345678", "+9996612345"].map(isPossible)).toEqual([true, true])
    expect(["+888123456789012", "+9996712345"].map(isPossible)).toEqual([false, false])
  })

  it("is shown as its country groups it, and any other text as it is", () => {
    expect(shown("+12025550143")).toBe("+1 202 555 0143")
    expect(shown("+31612340001")).toBe("+31 6 12340001")
    for (const text of ["Ada", "", "+", "+31612340001 Ada", "+3", "<b>"]) expect(shown(text)).toBe(text)
  })

  it("is shown as it is sent where it is the messenger's own", () => {
    expect(shown("+88812345678")).toBe("+888 12345678")
  })

  it("is typed as people write it", () => {
    for (
      const text of ["+49 (0)1511 2345678", "+49 1511-234 56 78", "+4915112345678", " +49\u00a01511.2345678 "]
    ) expect([text, typed(text)]).toEqual([text, "+4915112345678"])
    expect(typed("+888 1234 5678")).toBe("+88812345678")
    for (const text of ["", "12 34", "nothing"]) expect(typed(text)).toBe(text.replaceAll(" ", ""))
  })
})
