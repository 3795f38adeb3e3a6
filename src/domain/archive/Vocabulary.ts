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

/** Writes a number below 16,384; the offset after it. */
const putVarint = (bytes: Uint8Array, at: number, value: number): number => {
  if (value <= 0x7f) {
    bytes[at] = value
    return at + 1
  }
  bytes[at] = value & 0x7f | 0x80
  bytes[at + 1] = value >>> 7
  return at + varintBytes
}

const sizeOfVarint = (value: number): number => value <= 0x7f ? 1 : varintBytes

/** The most bytes of a UTF-16 unit in UTF-8, and of a number below 16,384. */
const largestUnit = 3
const varintBytes = 2

/** A vocabulary in the making, page by page. */
export interface GrowingVocabulary {
  /** Adds the next page by its tokens; false, with nothing added, where it would be larger than what is opened. */
  readonly add: (tokens: ReadonlySet<string>) => boolean
  /** The vocabulary of the pages so far, which have so many messages. */
  readonly finish: (messages: number) => Vocabulary
}

/** The most pages of a vocabulary: a number of a page takes two bytes. */
const mostPages = 1 << 14

/** Tokens are numbered as they come, and pages are lists of numbers: an object for each token takes twice as long. */
export const growVocabulary = (): GrowingVocabulary => {
  const numbers = new Map<string, number>()
  /** The numbers of the tokens of all pages, and where those of each page end. */
  let entries = new Uint32Array(1 << 14)
  const ends: Array<number> = []
  let wordBytes = 0
  let postingBytes = 0

  /** Calls back for each token of each page, with the page's distance from the last one that has the token. */
  const forEachPosting = (use: (token: number, distance: number) => void): void => {
    const last = new Uint32Array(numbers.size)
    let at = 0
    for (const [page, end] of ends.entries()) {
      for (; at < end; at++) {
        const token = entries[at] ?? 0
        use(token, page - (last[token] ?? 0))
        last[token] = page
      }
    }
  }

  return {
    add: (tokens) => {
      const begin = ends.at(-1) ?? 0
      if (begin + tokens.size > entries.length) {
        const larger = new Uint32Array(2 * (begin + tokens.size))
        larger.set(entries)
        entries = larger
      }
      let at = begin
      let newBytes = 0
      const fresh: Array<string> = []
      for (const token of tokens) {
        const known = numbers.get(token)
        if (known !== undefined) {
          entries[at++] = known
          continue
        }
        newBytes += largestUnit * token.length + 1
        fresh.push(token)
      }
      const bytes = varintBytes * (tokens.size + fresh.length)
      const isTooLarge = wordBytes + newBytes > inflatedLimit || postingBytes + bytes > inflatedLimit
      if (isTooLarge || ends.length === mostPages) return false
      wordBytes += newBytes
      postingBytes += bytes
      for (const token of fresh) {
        entries[at++] = numbers.size
        numbers.set(token, numbers.size)
      }
      ends.push(at)
      return true
    },
    finish: (messages) => {
      // By UTF-16 units, without a comparison of our own, which takes longer than all the rest.
      const tokens = [...numbers.keys()].sort()
      const counts = new Uint32Array(tokens.length)
      const sizes = new Uint32Array(tokens.length)
      forEachPosting((token, distance) => {
        counts[token] = (counts[token] ?? 0) + 1
        sizes[token] = (sizes[token] ?? 0) + sizeOfVarint(distance)
      })
      const size = sizes.reduce((sum, each) => sum + each, 0) +
        counts.reduce((sum, each) => sum + sizeOfVarint(each), 0)
      const postings = new Uint8Array(size)
      const places = new Uint32Array(tokens.length)
      let at = 0
      for (const token of tokens) {
        const number = numbers.get(token) ?? 0
        places[number] = putVarint(postings, at, counts[number] ?? 0)
        at = (places[number] ?? 0) + (sizes[number] ?? 0)
      }
      forEachPosting((token, distance) => {
        places[token] = putVarint(postings, places[token] ?? 0, distance)
      })
      return { messages, words: tokens.join("\n"), postings }
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
