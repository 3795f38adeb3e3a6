import { describe, expect, it, vi } from "@effect/vitest"
import * as fc from "fast-check"
import { fold, unfolding } from "../../../src/domain/archive/Fold.ts"
import { texts } from "../../support/archive/scripts.ts"
import { tried } from "../../support/drawn.ts"

describe("the folding of texts", () => {
  it.each([
    ["Straße STRASSE ẞ", "strasse strasse ss"],
    ["ΟΔΟΣ οδός", "οδοσ οδοσ"],
    ["naïve Café", "naive cafe"],
    ["Ёж йод И\u0306од", "еж йод йод"],
    ["e\u0306", "e"],
    ["İI", "ii"],
    ["ﬁ ① ½ ﾃｽﾄ", "fi 1 1⁄2 テスト"],
    ["한", "한"],
    ["नमस्ते", "नमस्ते"]
  ])("makes of %s: %s", (text, folded) => {
    expect(fold(text)).toBe(folded)
  })

  it("changes nothing when it is done again, and makes the composed and the decomposed text equal", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(fold(fold(text))).toBe(fold(text))
        expect(fold(text.normalize("NFD"))).toBe(fold(text))
      }),
      tried(500)
    )
  })

  it("finds the characters of a text that fold to a part of the folded one", () => {
    const part = (text: string, word: string) => {
      const { length, start } = unfolding(text)({ start: fold(text).indexOf(word), length: word.length })
      return text.slice(start, start + length)
    }
    expect(part("Die Straße dort", "ss")).toBe("ß")
    expect(part("Die Straße dort", "strasse")).toBe("Straße")
    expect(part("Ein Cafe\u0301 hier", "cafe")).toBe("Cafe\u0301")
    expect(part("👩‍👩‍👧 hello", "hello")).toBe("hello")
    expect(part("ﬁnal", "i")).toBe("ﬁ")
    expect(part("한국어", "국")).toBe("국")
  })

  it("looks through the characters of a text once for all that is asked of it", () => {
    const counted = vi.spyOn(Intl.Segmenter.prototype, "segment")
    const places = unfolding("Die Straße dort")
    for (const word of ["ss", "strasse", "dort", "d"]) {
      places({ start: fold("Die Straße dort").indexOf(word), length: word.length })
    }
    expect(counted).toHaveBeenCalledTimes(1)
    counted.mockRestore()
  })

  it("finds a stretch that holds the word, of whichever text", () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.integer({ min: 1, max: 5 }), (text, from, length) => {
        const folded = fold(text)
        const start = folded.length === 0 ? 0 : from % folded.length
        const word = folded.slice(start, start + length)
        const range = unfolding(text)({ start, length: word.length })
        expect(range.start + range.length).toBeLessThanOrEqual(text.length)
        expect(fold(text.slice(range.start, range.start + range.length))).toContain(word)
      }),
      tried(500)
    )
  })
})
