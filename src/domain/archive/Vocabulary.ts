/**
 * The vocabulary of a block of pages: every token of their texts, sorted and joined by newlines, and for each token the
 * positions of the pages that have it: their number and their differences as varints.
 */
import type { SearchWord } from "./SearchWords.ts"

export interface Vocabulary {
  /** Number of messages of its pages. */
  readonly messages: number
  readonly words: string
  readonly postings: Uint8Array
}

const putVarint = (bytes: Array<number>, value: number): void => {
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push(rest & 0x7f | 0x80)
  bytes.push(rest)
}

/** The pages of a token: how many, the last of them, and their differences as varints. */
interface Postings {
  count: number
  last: number
  readonly bytes: Array<number>
}

/** A vocabulary in the making, page by page. */
export interface GrowingVocabulary {
  /** Adds the next page by its tokens. */
  readonly add: (tokens: ReadonlySet<string>) => void
  /** The vocabulary of the pages so far, which have so many messages. */
  readonly finish: (messages: number) => Vocabulary
}

export const growVocabulary = (): GrowingVocabulary => {
  const known = new Map<string, Postings>()
  let pages = 0
  return {
    add: (tokens) => {
      for (const token of tokens) {
        let postings = known.get(token)
        if (postings === undefined) {
          postings = { count: 0, last: 0, bytes: [] }
          known.set(token, postings)
        }
        putVarint(postings.bytes, pages - postings.last)
        postings.count += 1
        postings.last = pages
      }
      pages += 1
    },
    finish: (messages) => {
      // By UTF-16 units, without a comparison of our own, which takes longer than all the rest.
      const tokens = [...known.keys()].sort()
      const postings: Array<number> = []
      for (const token of tokens) {
        const { bytes = [], count = 0 } = known.get(token) ?? {}
        putVarint(postings, count)
        for (const byte of bytes) postings.push(byte)
      }
      return { messages, words: tokens.join("\n"), postings: Uint8Array.from(postings) }
    }
  }
}

/** The numbers of the tokens that have `part` inside, ascending. */
const tokensWith = (words: string, lines: ReadonlyArray<number>, part: string): ReadonlyArray<number> => {
  const found: Array<number> = []
  let line = 0
  for (let at = words.indexOf(part); at >= 0; at = words.indexOf(part, lines[line + 1] ?? words.length)) {
    while ((lines[line + 1] ?? Infinity) <= at) line += 1
    found.push(line)
    if (lines[line + 1] === undefined) break
  }
  return found
}

/** The offsets at which the tokens begin. */
const linesOf = (words: string): ReadonlyArray<number> => {
  const lines = [0]
  for (let at = words.indexOf("\n"); at >= 0; at = words.indexOf("\n", at + 1)) lines.push(at + 1)
  return lines
}

const partsOf = (words: ReadonlyArray<SearchWord>): ReadonlyArray<string> => [
  ...new Set(words.flatMap(({ parts }) => parts))
]

/** True if every part of every word is inside some token: otherwise no page of the block matches. */
export const mayMatch = (vocabulary: string, words: ReadonlyArray<SearchWord>): boolean =>
  partsOf(words).every((part) => vocabulary.includes(part))

/** For each page 1 where it has a token with the part inside. */
type Marks = Uint8Array

/** Marks the pages of each token in all of its marks; false where the bytes are no postings of `tokens` over `pages`. */
const markPages = (
  postings: Uint8Array,
  tokens: number,
  pages: number,
  marksOf: ReadonlyMap<number, ReadonlyArray<Marks>>
): boolean => {
  const { length } = postings
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = postings[at++]
      if (byte === undefined) return -1
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return -1
  }
  for (let token = 0; token < tokens; token++) {
    const count = varint()
    if (count < 1 || count > pages) return false
    const marks = marksOf.get(token)
    if (marks === undefined) {
      // Mostly nearly all tokens: the last byte of each difference is all that is looked at.
      for (let left = count; left > 0 && at < length; at++) if ((postings[at] ?? 0) < 0x80) left -= 1
      continue
    }
    for (let place = 0, left = count; left > 0; left--) {
      const difference = varint()
      place += difference
      if (difference < 0 || place >= pages) return false
      for (const each of marks) each[place] = 1
    }
  }
  return at === length
}

/**
 * The positions, ascending, of the pages in which each part of each word is inside a token: no other page of the block
 * has a match. Null where the vocabulary is not one of so many pages.
 */
export const candidatePages = (
  words: string,
  postings: Uint8Array,
  pages: number,
  wanted: ReadonlyArray<SearchWord>
): ReadonlyArray<number> | null => {
  const lines = linesOf(words)
  const marksOf = new Map<number, Array<Marks>>()
  const marked = partsOf(wanted).map((part): Marks => {
    const marks = new Uint8Array(pages)
    for (const token of tokensWith(words, lines, part)) {
      const known = marksOf.get(token)
      if (known === undefined) marksOf.set(token, [marks])
      else known.push(marks)
    }
    return marks
  })
  if (!markPages(postings, words === "" ? 0 : lines.length, pages, marksOf)) return null
  const positions: Array<number> = []
  for (let page = 0; page < pages; page++) if (marked.every((marks) => marks[page] === 1)) positions.push(page)
  return positions
}
