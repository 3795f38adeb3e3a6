/** A search for words in whatever form they may have got into a table, a file or a log: any case, folded, encoded, packed. */
import * as zlib from "node:zlib"
import { fold } from "../../src/domain/archive/Fold.ts"

/** Packed bytes may begin behind a header of so many. */
const longestHeader = 48
/** Less holds no word when it is packed. */
const leastPacked = 10

/** A stream that is cut off, or has no checksum behind it, is unpacked as far as it goes. */
const openEnded = { finishFlush: zlib.constants.Z_SYNC_FLUSH, chunkSize: 4096 }

const inflated = (bytes: Uint8Array): Uint8Array => {
  try {
    return zlib.inflateRawSync(bytes, openEnded)
  } catch {
    return new Uint8Array()
  }
}

/** True where a stream may begin that is packed by a code of its own or by the fixed one. */
const begins = (first = 0): boolean => (first & 6) === 2 || (first & 6) === 4

/** Streams of deflate, also in the envelopes of zlib and gzip, which are headers of them. */
function* unpacked(bytes: Uint8Array): Iterable<Uint8Array> {
  const places = bytes.length < leastPacked ? 0 : Math.min(longestHeader, bytes.length - 1)
  for (let place = 0; place < places; place++) {
    if (!begins(bytes[place])) continue
    const plain = inflated(bytes.subarray(place))
    if (plain.length > 0) yield plain
  }
}

/** The bytes that stand in the text in hexadecimal or base64, which may begin anywhere in what looks like it. */
function* encoded(text: string): Iterable<Uint8Array> {
  const runs = (pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([run]) => run))
  for (const digits of runs(/[0-9a-f]{12,}/gi)) {
    for (const shift of [0, 1]) {
      yield Buffer.from(digits.slice(shift, digits.length - (digits.length - shift) % 2), "hex")
    }
  }
  for (const digits of runs(/[\w+/-]{14,}/g)) {
    for (const shift of [0, 1, 2, 3]) yield Buffer.from(digits.slice(shift), "base64")
  }
}

const utf16 = new TextDecoder("utf-16le")

/** The bytes as text in each encoding, also where a character of two bytes begins at the second one. */
function* texts(bytes: Uint8Array): Iterable<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  yield buffer.toString("utf8")
  yield utf16.decode(bytes)
  yield utf16.decode(bytes.subarray(1))
}

const unescaped = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))

function* forms(said: string | Uint8Array): Iterable<string> {
  const text = typeof said === "string" ? said : Buffer.from(said).toString("utf8")
  yield text
  yield unescaped(text)
  const stored = function*() {
    if (typeof said !== "string") yield said
    yield* encoded(text)
  }
  for (const bytes of stored()) {
    yield* texts(bytes)
    for (const plain of unpacked(bytes)) yield* texts(plain)
  }
}

/** The names of the words that stand in what is said, in any form. */
export const wordsIn = (said: string | Uint8Array, words: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const sought = new Map(Object.entries(words).map(([name, word]) => [name, fold(word)]))
  const found = new Set<string>()
  for (const form of forms(said)) {
    const folded = fold(form)
    for (const [name, word] of sought) if (folded.includes(word)) found.add(name)
  }
  return Object.keys(words).filter((name) => found.has(name))
}
