/** API keys: their form, their digests, and making new ones (specification, section 5.1). */
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as zlib from "node:zlib"
import { hmac, Peppers } from "../Peppers.ts"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const secretLength = 43
const checksumLength = 6

/** The number in so many characters. */
export const base62 = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text
  return text
}

/** The number that the characters encode; null for a character outside the alphabet. */
export const fromBase62 = (text: string): bigint | null =>
  Array.from(text).reduce<bigint | null>((value, character) => {
    const digit = alphabet.indexOf(character)
    return value === null || digit === -1 ? null : value * 62n + BigInt(digit)
  }, 0n)

const checksum = (text: string): string => base62(BigInt(zlib.crc32(text)), checksumLength)

/**
 * The form of a secret: what it starts with, 43 base62 characters of 256 random bits, so many more of what else it
 * says, and 6 of a CRC-32 over all before.
 */
export const form = (start: string, more = 0) => {
  const length = start.length + secretLength + more + checksumLength
  return {
    write: (bytes: Uint8Array, say: (secret: string) => string = () => ""): Redacted.Redacted => {
      const secret = start + base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), secretLength)
      const text = secret + say(secret)
      return Redacted.make(text + checksum(text))
    },
    /** The secret without its checksum, and its other contents. */
    read: (key: Redacted.Redacted): { readonly secret: string; readonly said: string } => {
      const text = Redacted.value(key)
      const end = start.length + secretLength
      return { secret: text.slice(0, end), said: text.slice(end, -checksumLength) }
    },
    matches: (key: Redacted.Redacted): boolean => {
      const text = Redacted.value(key)
      return text.length === length && text.startsWith(start) &&
        checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
    }
  }
}

/** The stored form of a key. */
export interface StoredKey {
  readonly digest: string
  readonly pepper_id: string
  /** Its last characters, by which its holder recognises keys: part of the checksum. */
  readonly last_four: string
}

/**
 * A key is `<prefix>_live_`, 43 base62 characters of 256 random bits, and 6 of the CRC-32 over everything before, so
 * that a typing error is refused without a look into the database.
 */
export class ApiKeys extends Context.Service<ApiKeys, {
  readonly make: Effect.Effect<Redacted.Redacted>
  /** True if the text has the form of a key of this service, its checksum included. */
  isWellFormed(key: Redacted.Redacted): boolean
  /** The stored form of a new key. */
  digest(key: Redacted.Redacted): StoredKey
  /** Every digest under which the key may have been kept. */
  digests(key: Redacted.Redacted): ReadonlyArray<string>
}>()("org-security-console/layers/crypto/credentials/ApiKeys") {
  static readonly layer = (prefix: string) =>
    Layer.effect(
      ApiKeys,
      Effect.gen(function*() {
        const peppers = yield* Peppers
        const random = yield* SecureRandom.SecureRandom
        const { matches, write } = form(`${prefix}_live_`)
        return {
          make: Effect.map(random.randomBytes(32), (bytes) => write(bytes)),
          isWellFormed: matches,
          digest: (key) => ({
            digest: hmac(peppers[0], Redacted.value(key)),
            pepper_id: peppers[0].id,
            last_four: Redacted.value(key).slice(-4)
          }),
          digests: (key) => peppers.map((pepper) => hmac(pepper, Redacted.value(key)))
        }
      })
    )
}

/** True if the text can be configured as a prefix. */
export const isPrefix = (text: string): boolean => /^[a-z][a-z0-9]{1,15}$/.test(text)
