/** Mails as exports write them: every part in Base64, so that no text is taken for a header, a boundary or a line's end. */
import { Effect, Stream } from "effect"
import { utf8 } from "../../domain/archive/Bytes.ts"

/** Bytes of a line of 76 characters. */
const lineBytes = 57
const linesAtOnce = 1024

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const codes = utf8(alphabet)
const [equals = 61, carriage = 13, feed = 10] = utf8("=\r\n")

/** Base64 with a line's end after each 57 bytes and at the end. */
const lines = (bytes: Uint8Array): Uint8Array => {
  const whole = Math.ceil(bytes.length / lineBytes)
  const made = new Uint8Array(Math.ceil(bytes.length / 3) * 4 + whole * 2)
  let at = 0
  for (let from = 0; from < bytes.length; from += lineBytes) {
    const end = Math.min(from + lineBytes, bytes.length)
    for (let place = from; place < end; place += 3) {
      const [one = 0, two = 0, three = 0] = bytes.subarray(place, place + 3)
      const left = end - place
      made[at++] = codes[one >> 2] ?? equals
      made[at++] = codes[(one & 3) << 4 | two >> 4] ?? equals
      made[at++] = left > 1 ? codes[(two & 15) << 2 | three >> 6] ?? equals : equals
      made[at++] = left > 2 ? codes[three & 63] ?? equals : equals
    }
    made[at++] = carriage
    made[at++] = feed
  }
  return made
}

/** Base64 in lines of what is sent, in pieces of any size. */
const base64Lines = <E, R>(content: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    let rest = new Uint8Array()
    const taken = (bytes: Uint8Array): Uint8Array => {
      const joined = rest.length === 0 ? bytes : new Uint8Array(rest.length + bytes.length)
      if (rest.length > 0) {
        joined.set(rest)
        joined.set(bytes, rest.length)
      }
      const whole = joined.length - joined.length % (lineBytes * linesAtOnce)
      rest = joined.slice(whole)
      return lines(joined.subarray(0, whole))
    }
    return Stream.concat(Stream.map(content, taken), Stream.fromEffect(Effect.sync(() => lines(rest)))).pipe(
      Stream.filter((bytes) => bytes.length > 0)
    )
  })

const controls = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]|[\uD800-\uDFFF]/gu

const readable = /^[\w !#$&'*+,./:;?^`{|}~-]{0,60}$/u

const encoded = (text: string): string => {
  const words: Array<string> = []
  let word = ""
  for (const character of text) {
    if (utf8(word + character).length > 42) {
      words.push(word)
      word = ""
    }
    word += character
  }
  return [...words, word].map((each) => `=?UTF-8?B?${new TextDecoder().decode(lines(utf8(each))).trim()}?=`).join(
    "\r\n "
  )
}

/** The value of a header, of which nothing begins another one (RFC 2047). */
export const headerText = (text: string): string => {
  const clean = text.replaceAll(controls, "\uFFFD").slice(0, 500)
  return readable.test(clean) ? clean : encoded(clean)
}

/** A parameter of a header in UTF-8 (RFC 2231). */
const parameter = (name: string, value: string): string =>
  `${name}*=UTF-8''${
    encodeURIComponent(value).replaceAll(/['()*!]/gu, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
  }`

/** Never within Base64, and the same each time. */
const boundary = "=_part_of_the_export_="

const mediaType = /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,60}$/iu

/** A part of a mail. */
export interface MimePart<E = never, R = never> {
  readonly type: string
  /** The name of an attachment; null for the text. */
  readonly name: string | null
  readonly content: Stream.Stream<Uint8Array, E, R>
}

/** The text of a mail. */
export const textPart = (text: string): MimePart => ({
  type: "text/plain; charset=utf-8",
  name: null,
  content: Stream.succeed(utf8(text))
})

const partHead = ({ name, type }: MimePart<unknown, unknown>): string => {
  const kept = name === null || mediaType.test(type) ? type : "application/octet-stream"
  const disposition = name === null ? "" : `Content-Disposition: attachment;\r\n ${parameter("filename", name)}\r\n`
  return `--${boundary}\r\nContent-Type: ${kept}\r\n${disposition}Content-Transfer-Encoding: base64\r\n\r\n`
}

/** A mail of these headers, whose values are lines already, and parts. */
export const mail = <E, R>(
  headers: ReadonlyArray<readonly [name: string, value: string]>,
  parts: Stream.Stream<MimePart<E, R>, E, R>
): Stream.Stream<Uint8Array, E, R> => {
  const head = [
    ...headers.map(([name, value]) => `${name}: ${value}\r\n`),
    "MIME-Version: 1.0\r\n",
    `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`
  ].join("")
  return Stream.succeed(utf8(head)).pipe(
    Stream.concat(
      Stream.flatMap(parts, (part) => Stream.concat(Stream.succeed(utf8(partHead(part))), base64Lines(part.content)))
    ),
    Stream.concat(Stream.succeed(utf8(`--${boundary}--\r\n`)))
  )
}
