import { describe, expect, it, vi } from "@effect/vitest"
import * as fc from "fast-check"
import { fold } from "../../../src/domain/archive/Fold.ts"
import { searchWords } from "../../../src/domain/archive/SearchWords.ts"
import { tokensOf } from "../../../src/domain/archive/Tokens.ts"
import { candidatePages, mayMatch } from "../../../src/domain/archive/Vocabulary.ts"
import { texts } from "../../support/archive/scripts.ts"
import { makeVocabulary } from "../../support/archive/vocabularies.ts"
import { tried } from "../../support/drawn.ts"

/** More parts than pages are chosen by. */
const manyParts = fc.array(fc.string({ unit: fc.constantFrom(..."abcdeот1"), minLength: 1, maxLength: 2 }), {
  minLength: 9,
  maxLength: 30
}).map((words) => words.join(" "))

const pages = fc.array(fc.array(fc.oneof(texts, manyParts), { maxLength: 3 }), { minLength: 1, maxLength: 12 })

const vocabularyOf = (all: ReadonlyArray<ReadonlyArray<string>>) => makeVocabulary(all, 0)

const candidates = (all: ReadonlyArray<ReadonlyArray<string>>, query: string) => {
  const { postings, words } = vocabularyOf(all)
  return candidatePages(words, postings, all.length, searchWords(query))
}

describe("the vocabulary of a block", () => {
  it("names exactly the pages in which each of the eight longest parts of the words is inside a token", () => {
    fc.assert(
      fc.property(pages, fc.oneof(texts, manyParts), (all, query) => {
        const parts = [...new Set(searchWords(query).flatMap((word) => word.parts))]
          .sort((one, other) => other.length - one.length).slice(0, 8)
        const expected = all.flatMap((page, position) => {
          const tokens = page.flatMap((text) => tokensOf(fold(text)))
          return parts.every((part) => tokens.some((token) => token.includes(part))) ? [position] : []
        })
        expect(candidates(all, query)).toEqual(expected)
        if (expected.length > 0) expect(mayMatch(vocabularyOf(all).words, searchWords(query))).toBe(true)
      }),
      tried(500)
    )
  })

  it("holds many pages of one token, and no page twice", () => {
    const many = Array.from({ length: 512 }, (_, position) => [position % 3 === 0 ? "harbour harbours" : "lantern"])
    expect(candidates(many, "harbour")).toEqual(many.flatMap(([text], at) => text === "lantern" ? [] : [at]))
    expect(candidates(many, "anter")).toHaveLength(512 - 171)
    expect(candidates(many, "harbour lantern")).toEqual([])
    expect(candidates(many, "…")).toHaveLength(512)
    const apart = many.map((_, position) => [position % 200 === 7 ? "anchor buoy" : "lantern"])
    expect(candidates(apart, "buoy")).toEqual([7, 207, 407])
    expect(candidates(apart, "buoy anchor")).toEqual([7, 207, 407])
    expect(candidates([], "word")).toEqual([])
    expect(candidates([[]], "word")).toEqual([])
  })

  it("is looked through no further for a part that all pages are known to have, nor for a hundred words of one letter", () => {
    const all = Array.from({ length: 4 }, (_, page) => [
      Array.from({ length: 5000 }, (_, at) => `a${(at * 7919 + page).toString(36)}z`).join(" ")
    ])
    const { postings, words } = vocabularyOf(all)
    const query = Array.from({ length: 100 }, (_, at) => at < 36 ? at.toString(36) : "a").join(" ")
    const looked = vi.spyOn(String.prototype, "indexOf")
    const found = candidatePages(words, postings, 4, searchWords(query))
    const times = looked.mock.calls.length
    looked.mockRestore()
    expect(found).toEqual([0, 1, 2, 3])
    expect(times).toBeLessThan(1000)
  })

  it("with postings of other pages, cut or followed by more, is none", () => {
    const { postings, words } = vocabularyOf([["one two"], ["two three"]])
    const wanted = searchWords("two")
    expect(candidatePages(words, postings, 2, wanted)).toEqual([0, 1])
    expect(candidatePages(words, postings, 1, wanted)).toBeNull()
    expect(candidatePages(words, postings.slice(0, -1), 2, wanted)).toBeNull()
    expect(candidatePages(words, Uint8Array.of(...postings, 0), 2, wanted)).toBeNull()
    expect(candidatePages(words, new Uint8Array(postings.length).fill(0xff), 2, wanted)).toBeNull()
  })
})

describe("the words of a search", () => {
  const folded = (query: string) => searchWords(query).map((word) => word.folded)

  it("are folded, each once; those in quotation marks are one, with their spaces", () => {
    expect(folded("  Straße  Café café ")).toEqual(["strasse", "cafe"])
    expect(folded("before \"Guten Tag\" after")).toEqual(["before", "guten tag", "after"])
    expect(folded("an \"open end")).toEqual(["an", "open end"])
    expect(searchWords("example.com")).toEqual([{ folded: "example.com", parts: ["example", "com"] }])
  })

  it("are none where nothing can be looked for", () => {
    for (const query of ["", "   ", "\"\"", "\" \" \"", "\u0301"]) expect(folded(query)).toEqual([])
  })
})
