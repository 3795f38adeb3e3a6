/**
 * The vocabulary of a block of pages: every token of their texts, sorted and joined by newlines, and for each token the
 * positions of the pages that have it: their number and their differences as varints.
 */
import { inflatedLimit } from "./PageRules.ts"
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

/** The most bytes of a UTF-16 unit in UTF-8, and of a number below 16,384. */
const largestUnit = 3
const varintBytes = 2

/** The pages of a token: how many, the last of them, and their differences as varints. */
interface Postings {
  count: number
  last: number
  readonly bytes: Array<number>
}

/** A vocabulary in the making, page by page. */
export interface GrowingVocabulary {
  /** Adds the next page by its tokens; false, with nothing added, where it would be larger than what is opened. */
  readonly add: (tokens: ReadonlySet<string>) => boolean
  /** The vocabulary of the pages so far, which have so many messages. */
  readonly finish: (messages: number) => Vocabulary
}

export const growVocabulary = (): GrowingVocabulary => {
  const known = new Map<string, Postings>()
  let pages = 0
  let wordBytes = 0
  let postingBytes = 0
  return {
    add: (tokens) => {
      let newBytes = 0
      let newWords = 0
      for (const token of tokens) {
        if (known.has(token)) continue
        newBytes += largestUnit * token.length + 1
        newWords += 1
      }
      const bytes = varintBytes * (tokens.size + newWords)
      if (wordBytes + newBytes > inflatedLimit || postingBytes + bytes > inflatedLimit) return false
      wordBytes += newBytes
      postingBytes += bytes
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
      return true
    },
    finish: (messages) => {
      // By UTF-16 units, without a comparison of our own, which takes longer than all the rest.
      const tokens = [...known.keys()].sort()
      let size = 0
      for (const { bytes } of known.values()) size += varintBytes + bytes.length
      const postings = new Uint8Array(size)
      let at = 0
      for (const token of tokens) {
        const { bytes = [], count = 0 } = known.get(token) ?? {}
        const counted: Array<number> = []
        putVarint(counted, count)
        postings.set(counted, at)
        postings.set(bytes, at + counted.length)
        at += counted.length + bytes.length
      }
      return { messages, words: tokens.join("\n"), postings: postings.slice(0, at) }
    }
  }
}

/** Parts of a query by which pages are chosen: looking for one takes about as long as for any other. */
const partsLooked = 8

/** A part of a query, and the pages that have a token with it inside. */
interface PartPages {
  readonly part: string
  /** For each page 1 where it has one. */
  readonly marks: Uint8Array
  /** The number of pages without one. */
  left: number
  /** The offset of the next token with the part, or -1. */
  next: number
}

/** The longest parts: they exclude most pages, and a page without one of them has no match. */
const partsOf = (words: ReadonlyArray<SearchWord>): ReadonlyArray<string> =>
  [...new Set(words.flatMap(({ parts }) => parts))].sort((one, other) => other.length - one.length)
    .slice(0, partsLooked)

/** True if each of the parts is inside some token: otherwise no page of the block matches. */
export const mayMatch = (vocabulary: string, words: ReadonlyArray<SearchWord>): boolean =>
  partsOf(words).every((part) => vocabulary.includes(part))

/** The number of tokens that end between two offsets: no other character comes before those of a text. */
const tokensBetween = (words: string, from: number, to: number): number => {
  let tokens = 0
  // Without a branch, as over postings: a processor guesses it wrongly for every token, which takes twice as long.
  for (let at = from; at < to; at++) tokens += words.charCodeAt(at) - 11 >>> 31
  return tokens
}

/**
 * The offset after the postings of so many tokens, or -1 where one has none, or more than `pages`. Numbers are below
 * 16,384, and take a byte or two.
 */
const skipTokens = (postings: Uint8Array, from: number, tokens: number, pages: number): number => {
  let at = from
  for (let token = 0; token < tokens; token++) {
    let left = postings[at++] ?? 0
    if (left >= 0x80) left = left & 0x7f | (postings[at++] ?? 0) << 7
    if (left < 1 || left > pages) return -1
    // The last byte of each difference is all that counts; behind the end there are zeros.
    while (left > 0) left -= 1 - ((postings[at++] ?? 0) >> 7)
  }
  return at
}

/** Marks the pages of one token; false where they are none of so many. */
const markToken = (postings: Uint8Array, from: number, pages: number, of: PartPages): boolean => {
  let at = from + 1
  let left = postings[from] ?? 0
  if (left >= 0x80) left = left & 0x7f | (postings[at++] ?? 0) << 7
  if (left < 1 || left > pages) return false
  for (let page = 0; left > 0; left--) {
    let difference = postings[at++] ?? 0
    if (difference >= 0x80) difference = difference & 0x7f | (postings[at++] ?? 0) << 7
    page += difference
    if (page >= pages) return false
    of.left -= 1 - (of.marks[page] ?? 1)
    of.marks[page] = 1
  }
  return true
}

/** The part whose token comes next, of those that not all pages are known to have. */
const nextPart = (parts: ReadonlyArray<PartPages>): PartPages | undefined => {
  let first: PartPages | undefined
  for (const each of parts) {
    if (each.left > 0 && each.next >= 0 && (first === undefined || each.next < first.next)) first = each
  }
  return first
}

/**
 * Marks the pages of the parts; false where the bytes are no postings of the words over `pages`. Words and postings are
 * gone over side by side.
 */
const markPages = (
  words: string,
  postings: Uint8Array,
  pages: number,
  parts: ReadonlyArray<PartPages>
): boolean => {
  let at = 0
  let place = 0
  for (let found = nextPart(parts); found !== undefined; found = nextPart(parts)) {
    const token = found.next
    at = skipTokens(postings, at, tokensBetween(words, place, token), pages)
    if (at < 0 || !markToken(postings, at, pages, found)) return false
    place = token
    const end = words.indexOf("\n", token)
    found.next = end < 0 ? -1 : words.indexOf(found.part, end)
  }
  const rest = tokensBetween(words, place, words.length) + (words === "" ? 0 : 1)
  return skipTokens(postings, at, rest, pages) === postings.length
}

/**
 * The positions, ascending, of the pages in which each of the parts is inside a token: no other page of the block has a
 * match. Null where the vocabulary is not one of so many pages.
 */
export const candidatePages = (
  words: string,
  postings: Uint8Array,
  pages: number,
  wanted: ReadonlyArray<SearchWord>
): ReadonlyArray<number> | null => {
  const parts = partsOf(wanted).map((part): PartPages => ({
    part,
    marks: new Uint8Array(pages),
    left: pages,
    next: words.indexOf(part)
  }))
  if (!markPages(words, postings, pages, parts)) return null
  const positions: Array<number> = []
  for (let page = 0; page < pages; page++) if (parts.every(({ marks }) => marks[page] === 1)) positions.push(page)
  return positions
}
