import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { ApiKeys, isPrefix } from "../../../../src/layers/crypto/credentials/ApiKeys.ts"
import { hmac, Peppers } from "../../../../src/layers/crypto/Peppers.ts"
import * as Random from "../../../support/random.ts"

const pepper = (byte: number) => Buffer.alloc(32, byte).toString("base64")

const keys = (...peppers: ReadonlyArray<string>) =>
  ApiKeys.layer("osc").pipe(
    Layer.provideMerge(Peppers.layerText(Redacted.make(peppers.join(",")))),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

/** Keys of the given random bytes. */
const keysOf = (byte: number) =>
  ApiKeys.layer("osc").pipe(
    Layer.provide(Peppers.layerText(Redacted.make(pepper(1)))),
    Layer.provide(Layer.effect(
      SecureRandom.SecureRandom,
      Effect.map(SecureRandom.SecureRandom, (random) =>
        SecureRandom.SecureRandom.of({
          ...random,
          randomBytes: (length: number) => Effect.succeed(new Uint8Array(length).fill(byte))
        }))
    )),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

const make = Effect.flatMap(ApiKeys, (keys) => Effect.map(keys.make, Redacted.value))

const wellFormed = (text: string) => Effect.map(ApiKeys, (keys) => keys.isWellFormed(Redacted.make(text)))

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

describe("ApiKeys", () => {
  it.effect("S5.1-01: are a fixed prefix ending in _live_, then the secret part and a checksum, all of it base62", () =>
    Effect.gen(function*() {
      const made = yield* Effect.forEach(Array.from({ length: 200 }), () => make)
      expect(made.filter((key) => !/^osc_live_[0-9A-Za-z]{49}$/.test(key))).toEqual([])
      expect(new Set(made).size).toBe(200)
      expect(new Set(made.flatMap((key) => key.slice(9, -6).split(""))).size).toBe(62)
    }).pipe(Effect.provide(keys(pepper(1)))))

  it.effect("carry all 256 bits, the smallest and the largest number alike", () =>
    Effect.gen(function*() {
      const [smallest, largest] = [
        yield* Effect.provide(make, keysOf(0)),
        yield* Effect.provide(make, keysOf(255))
      ]
      expect(smallest.slice(0, -6)).toBe(`osc_live_${"0".repeat(43)}`)
      const number = largest.slice(9, -6).split("").reduce(
        (sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)),
        0n
      )
      expect(number).toBe(2n ** 256n - 1n)
    }))

  it.effect("with any one character changed, lost, added or exchanged with its neighbour are not well-formed", () =>
    Effect.gen(function*() {
      const key = yield* make
      expect(yield* wellFormed(key)).toBe(true)
      yield* Random.holds(
        Arbitrary.all({
          place: Random.between(0, key.length - 1),
          digit: Random.pickOf(...alphabet, "_", "-", " ", "é"),
          kind: Random.pickOf("change", "lose", "add", "exchange")
        }),
        600,
        ({ digit, kind, place }) =>
          Effect.gen(function*() {
            const wrong = kind === "change"
              ? key.slice(0, place) + digit + key.slice(place + 1)
              : kind === "lose"
              ? key.slice(0, place) + key.slice(place + 1)
              : kind === "add"
              ? key.slice(0, place) + digit + key.slice(place)
              : key.slice(0, place) + key.slice(place, place + 2).split("").toReversed().join("") + key.slice(place + 2)
            expect(yield* wellFormed(wrong)).toBe(wrong === key)
          })
      )
    }).pipe(Effect.provide(keys(pepper(1)))))

  it.effect("of another service's prefix are not well-formed here", () =>
    Effect.gen(function*() {
      const other = ApiKeys.layer("abc").pipe(
        Layer.provide(Peppers.layerText(Redacted.make(pepper(1)))),
        Layer.provide(SecureRandom.layerWebCrypto)
      )
      expect(yield* wellFormed(yield* Effect.provide(make, other))).toBe(false)
      expect(yield* wellFormed("")).toBe(false)
    }).pipe(Effect.provide(keys(pepper(1)))))

  it.effect("are kept as a digest under the newest pepper, and looked for under all of them", () =>
    Effect.gen(function*() {
      const apiKeys = yield* ApiKeys
      const [newest, oldest] = yield* Peppers
      if (oldest === undefined) return yield* Effect.die(new Error("No second pepper"))
      const key = yield* apiKeys.make
      const under = (pepper: typeof newest) => hmac(pepper, Redacted.value(key))
      expect(apiKeys.digest(key)).toEqual({
        digest: under(newest),
        pepper_id: newest.id,
        last_four: Redacted.value(key).slice(-4)
      })
      expect(apiKeys.digests(key)).toEqual([under(newest), under(oldest)])
      expect(under(newest)).not.toBe(under(oldest))
    }).pipe(Effect.provide(keys(pepper(2), pepper(1)))))

  it("have a prefix of 2 to 16 lower-case letters and digits, a letter first", () => {
    expect(["ab", "a1", "osc", `a${"1".repeat(15)}`].filter((text) => !isPrefix(text))).toEqual([])
    expect(["", "a", "1a", "Ab", "a_b", "a-b", "a b", "ab\n", `a${"1".repeat(16)}`].filter(isPrefix)).toEqual([])
  })
})
