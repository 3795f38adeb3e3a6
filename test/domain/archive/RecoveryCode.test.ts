import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { formatRecoveryCode, readRecoveryCode } from "../../../src/domain/archive/RecoveryCode.ts"
import { tried } from "../../support/drawn.ts"

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe("a recovery code", () => {
  it("is 13 groups of 4 characters, and reads as the bytes that it was printed from", () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const code = formatRecoveryCode(given)
        expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){12}[0-9A-HJKMNP-TV-Z]{4}$/)
        expect(readRecoveryCode(code)).toEqual(given)
      }),
      tried()
    )
  })

  it("may be typed in lower case, with spaces, and with letters that look like digits", () => {
    const code = formatRecoveryCode(Uint8Array.from({ length: 32 }, (_, at) => at))
    const typed = ` ${code.toLowerCase().replaceAll("-", "  ").replaceAll("0", "o").replaceAll("1", "l")} `
    expect(readRecoveryCode(typed)).toEqual(readRecoveryCode(code))
  })

  it("is refused where a character is missing, added or foreign, or the last one has more bits than it holds", () => {
    const code = formatRecoveryCode(new Uint8Array(32))
    expect(readRecoveryCode(code)).toEqual(new Uint8Array(32))
    for (
      const text of ["", code.slice(1), `${code}0`, `U${code.slice(1)}`, `${code.slice(0, -1)}1`, `*${code.slice(1)}`]
    ) {
      expect(readRecoveryCode(text)).toBeNull()
    }
  })
})
