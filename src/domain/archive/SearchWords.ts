/** The words of a search, and what they match. */
import { fold, type TextRange, unfolding } from "./Fold.ts"
import { fieldTexts, type Revision, type TextField, tokensOf } from "./Tokens.ts"

/** A folded word or phrase. A text with the word has each of its parts inside one token. */
export interface SearchWord {
  readonly folded: string
  readonly parts: ReadonlyArray<string>
}

/** The place of a word in a revision, in UTF-16 units of the field's text as it was written. */
export interface FieldMatch extends TextRange {
  readonly field: TextField
}

const wordOrPhrase = /"([^"]*)"?|[^\s"]+/g

/** The words of a query: `"…"` is one word with its spaces. None where it has nothing that can be looked for. */
export const searchWords = (query: string): ReadonlyArray<SearchWord> => {
  const folded = [...query.matchAll(wordOrPhrase)].map(([word, phrase]) => fold((phrase ?? word).trim()))
  return [...new Set(folded)].filter((word) => word !== "").map((word) => ({ folded: word, parts: tokensOf(word) }))
}

/** True where each word is in a field of the revision. */
export const matchesRevision = (words: ReadonlyArray<SearchWord>, revision: Revision): boolean => {
  const fields = fieldTexts(revision).map(({ text }) => fold(text))
  return words.every(({ folded }) => fields.some((field) => field.includes(folded)))
}

/** The first place of each word in each field that has it. */
export const placesIn = (words: ReadonlyArray<SearchWord>, revision: Revision): ReadonlyArray<FieldMatch> => {
  const fields = fieldTexts(revision).map(({ field, text }) => ({
    field,
    folded: fold(text),
    unfolded: unfolding(text)
  }))
  return words.flatMap((word) =>
    fields.flatMap(({ field, folded, unfolded }) => {
      const start = folded.indexOf(word.folded)
      return start < 0 ? [] : [{ field, ...unfolded({ start, length: word.folded.length }) }]
    })
  )
}
