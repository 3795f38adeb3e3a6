import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { openVocabulary, sealVocabulary } from "../../src/archive/Vocabularies.ts"
import { growVocabulary } from "../../src/domain/archive/Vocabulary.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import * as Vectors from "../support/archive/archiveVectors.ts"
import { keys } from "../support/archive/searchedArchive.ts"

/** The tokens of a page, none of which another page has. */
const tokensOfPage = (page: number, letters: string, count: number) =>
  new Set(Array.from({ length: count }, (_, place) => `${letters}${(page * count + place).toString(36)}`))

describe("a vocabulary", () => {
  const crypto = Layer.merge(NodeCrypto.layer, Vectors.cheapDerivation)

  for (const [what, letters] of [["two", "съешьещёэтихмягких"], ["three", "ラーメンとやわらかいパン"]] as const) {
    it.effect(`of letters of ${what} bytes takes no page more than can be opened`, () =>
      Effect.gen(function*() {
        const [key] = yield* keys
        if (key === undefined) return yield* Effect.die("No key")
        const vocabulary = growVocabulary()
        let pages = 0
        while (vocabulary.add(tokensOfPage(pages, letters, 10_000))) pages++
        expect(pages).toBeGreaterThan(10)
        const sealed = yield* sealVocabulary(key, 7n, vocabulary.finish(pages))
        const opened = yield* openVocabulary(key, 7n, sealed)
        expect(opened.words.split("\n").length).toBe(pages * 10_000)
        expect((yield* opened.postings).length).toBeGreaterThanOrEqual(pages * 10_000 * 2)
      }).pipe(Effect.provide(crypto)), 30_000)
  }

  it("takes no page whose places would be more than can be opened", () => {
    const vocabulary = growVocabulary()
    const tokens = tokensOfPage(0, "word", 20_000)
    let pages = 0
    while (vocabulary.add(tokens)) pages++
    expect(pages).toBeGreaterThan(150)
    expect(vocabulary.finish(pages).postings.length).toBeLessThanOrEqual(8 * 1024 * 1024)
  })
})
