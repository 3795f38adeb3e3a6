import { describe, expect, it } from "@effect/vitest"
import { XWing } from "@hpke/hybridkem-x-wing"
import { Effect, Redacted } from "effect"
import * as fc from "fast-check"
import { createCipheriv, randomBytes } from "node:crypto"
import { concat, utf8 } from "../../../src/domain/archive/Bytes.ts"
import { argon2Cost } from "../../../src/domain/archive/KeyDerivation.ts"
import { hasNativeXWing, NativeXWing } from "../../../src/layers/archive/NativeXWing.ts"
import * as Derivation from "../../../src/layers/archive/PasswordDerivation.ts"
import { ArchiveCrypto, PasswordDerivation } from "../../../src/ports/archive/ArchiveCrypto.ts"
import hpke from "../../golden/archive/1/hpke.json" with { type: "json" }
import xWing from "../../golden/archive/1/x-wing.json" with { type: "json" }
import { cheapDerivation, fromHex, layers, toHex } from "../../support/archive/archiveVectors.ts"
import { keySchedule } from "../../support/archive/hpkeSchedule.ts"
import { tried } from "../../support/drawn.ts"

type Crypto = ArchiveCrypto["Service"]

const each = Object.entries(layers)
const cryptoOf = (layer: (typeof layers)["node"]): Promise<Crypto> =>
  Effect.runPromise(Effect.provide(Effect.map(ArchiveCrypto, (crypto) => crypto), layer))

const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

/** The bytes with one bit changed. */
const changed = (bytes: Uint8Array, bit: number): Uint8Array => {
  const other = bytes.slice()
  other[bit >> 3] = (other[bit >> 3] ?? 0) ^ 1 << (bit & 7)
  return other
}

const bits = fc.uint8Array({ maxLength: 200 })

describe.each(each)("the archive's primitives by %s", (_, layer) => {
  it("make the public key of X-Wing's draft from its seed, and open what is sealed to it", async () => {
    const crypto = await cryptoOf(layer)
    const seed = fromHex(xWing.seed)
    expect(toHex(await run(crypto.publicKey(seed)))).toBe(xWing.public_key)
    const sealed = await run(crypto.hpkeSeal(fromHex(xWing.public_key), utf8("info"), utf8("secret")))
    expect(sealed).toHaveLength(1120 + 6 + 16)
    for (const [, other] of each) {
      const opened = await run((await cryptoOf(other)).hpkeOpen(seed, utf8("info"), sealed))
      expect(Buffer.from(opened).toString()).toBe("secret")
    }
  })

  it("open by HPKE what RFC 9180's key schedule makes of the draft's shared secret", async () => {
    const { ciphertext, info, text } = hpke.sealed
    const sealed = concat(fromHex(xWing.ciphertext), fromHex(ciphertext))
    const opened = await run((await cryptoOf(layer)).hpkeOpen(fromHex(xWing.seed), fromHex(info), sealed))
    expect(Buffer.from(opened).toString()).toBe(text)
  })

  it("open by several seeds in turn what is sealed to each", async () => {
    const crypto = await cryptoOf(layer)
    const seeds = [fromHex(xWing.seed), changed(fromHex(xWing.seed), 9)]
    const sealed = await Promise.all(
      seeds.map(async (seed) => run(crypto.hpkeSeal(await run(crypto.publicKey(seed)), utf8("info"), seed)))
    )
    for (const at of [0, 0, 1, 0, 1, 1]) {
      const opened = await run(crypto.hpkeOpen(seeds[at]!, utf8("info"), sealed[at]!))
      expect(toHex(opened)).toBe(toHex(seeds[at]!))
      expect((await run(Effect.flip(crypto.hpkeOpen(seeds[at]!, utf8("info"), sealed[1 - at]!))))._tag).toBe(
        "NotOpened"
      )
    }
  })

  it("open nothing by HPKE where a bit of key, info or sealed bytes is another, or bytes are missing", async () => {
    const crypto = await cryptoOf(layer)
    const seed = fromHex(xWing.seed)
    const sealed = await run(crypto.hpkeSeal(fromHex(xWing.public_key), utf8("info"), utf8("secret")))
    const wrong = [
      crypto.hpkeOpen(changed(seed, 9), utf8("info"), sealed),
      crypto.hpkeOpen(seed, utf8("other"), sealed),
      ...[0, 1087 * 8, 1088 * 8, 1119 * 8, 1120 * 8, 1141 * 8 + 7].map((bit) =>
        crypto.hpkeOpen(seed, utf8("info"), changed(sealed, bit))
      ),
      ...[0, 16, 1119, 1120, 1141].map((size) => crypto.hpkeOpen(seed, utf8("info"), sealed.slice(0, size)))
    ]
    for (const opening of wrong) expect((await run(Effect.flip(opening)))._tag).toBe("NotOpened")
  })

  it("seal and open bytes by AES-256-GCM, and open nothing where any bit is another", async () => {
    const crypto = await cryptoOf(layer)
    const key = await run(crypto.random(32))
    const nonce = await run(crypto.random(12))
    await fc.assert(
      fc.asyncProperty(bits, bits, fc.nat(), async (bytes, additional, place) => {
        const sealed = await run(crypto.aeadSeal(key, nonce, bytes, additional))
        expect(sealed).toHaveLength(bytes.length + 16)
        expect(new Uint8Array(await run(crypto.aeadOpen(key, nonce, sealed, additional)))).toEqual(bytes)
        const wrong = [
          crypto.aeadOpen(changed(key, place % 256), nonce, sealed, additional),
          crypto.aeadOpen(key, changed(nonce, place % 96), sealed, additional),
          crypto.aeadOpen(key, nonce, changed(sealed, place % (sealed.length * 8)), additional),
          crypto.aeadOpen(key, nonce, sealed, concat(additional, Uint8Array.of(0))),
          crypto.aeadOpen(key, nonce, sealed.slice(0, -1), additional),
          crypto.aeadOpen(key, nonce, sealed.slice(0, 12), additional),
          crypto.aeadOpen(key, new Uint8Array(), sealed, additional)
        ]
        for (const opening of wrong) expect((await run(Effect.flip(opening)))._tag).toBe("NotOpened")
      }),
      tried(40)
    )
  })

  it("hash, authenticate and derive as the standards' vectors say", async () => {
    const crypto = await cryptoOf(layer)
    // FIPS 180-2, RFC 4231 case 2, RFC 5869 case 3.
    expect(toHex(await run(crypto.sha256(utf8("abc"))))).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    expect(toHex(await run(crypto.hmac(utf8("Jefe"), utf8("what do ya want for nothing?"))))).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )
    expect(toHex(await run(crypto.hkdf(new Uint8Array(22).fill(11), new Uint8Array(), 42)))).toBe(
      "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    )
  })

  it.each([
    ["few", utf8("one two three ".repeat(2000))],
    ["many", new Uint8Array(randomBytes(40_000))]
  ])("deflate and inflate %s bytes, and nothing beyond the limit, cut off, or followed by more", async (_, bytes) => {
    const crypto = await cryptoOf(layer)
    const deflated = await run(crypto.deflate(bytes))
    expect(deflated.length).toBeLessThan(bytes.length * 1.01)
    for (const [, other] of each) {
      const inflated = await run((await cryptoOf(other)).inflate(deflated, bytes.length))
      expect(Buffer.compare(inflated, bytes)).toBe(0)
    }
    const wrong = [
      crypto.inflate(deflated, bytes.length - 1),
      crypto.inflate(deflated.slice(0, -1), bytes.length),
      crypto.inflate(concat(deflated, Uint8Array.of(0)), bytes.length),
      crypto.inflate(new Uint8Array(), bytes.length),
      crypto.inflate(Uint8Array.of(0xff), bytes.length)
    ]
    for (const inflating of wrong) expect((await run(Effect.flip(inflating)))._tag).toBe("NotOpened")
  })

  it("draw other random bytes each time", async () => {
    const crypto = await cryptoOf(layer)
    const drawn = await Promise.all(Array.from({ length: 20 }, () => run(crypto.random(32))))
    expect(new Set(drawn.map(toHex)).size).toBe(20)
    expect(drawn.every(({ length }) => length === 32)).toBe(true)
  })
})

describe("the vectors of HPKE", () => {
  it.each([
    ["RFC 9180", hpke.key_schedule, hpke.key_schedule.shared_secret],
    ["X-Wing's draft", hpke.sealed, xWing.shared_secret]
  ])("have the key and nonce that follow from the secret of %s", (_, vector, secret) => {
    const { aead, base_nonce, info, kdf, kem, key, key_size } = vector
    const made = keySchedule({ kem, kdf, aead, keySize: key_size }, fromHex(secret), fromHex(info))
    expect([toHex(made.key), toHex(made.baseNonce)]).toEqual([key, base_nonce])
  })

  it("are sealed by AES-256-GCM under that key and nonce", () => {
    const { base_nonce, ciphertext, key, text } = hpke.sealed
    const cipher = createCipheriv("aes-256-gcm", fromHex(key), fromHex(base_nonce))
    expect(toHex(concat(cipher.update(text), cipher.final(), cipher.getAuthTag()))).toBe(ciphertext)
  })
})

describe("X-Wing", () => {
  const kems = { library: new XWing(), native: new NativeXWing() }

  it("is Node's own where this Node has ML-KEM", () => {
    expect(hasNativeXWing).toBe(true)
  })

  it.each(Object.entries(kems))(
    "by the %s decapsulates the draft's ciphertext to the draft's secret",
    async (_, kem) => {
      const recipientKey = await kem.deserializePrivateKey(fromHex(xWing.seed))
      const secret = await kem.decap({ recipientKey, enc: fromHex(xWing.ciphertext) })
      expect(toHex(new Uint8Array(secret))).toBe(xWing.shared_secret)
    }
  )

  it("encapsulates by either to a secret that the other finds", async () => {
    for (const [from, to] of [[kems.library, kems.native], [kems.native, kems.library]] as const) {
      const recipientPublicKey = await from.deserializePublicKey(fromHex(xWing.public_key))
      const { enc, sharedSecret } = await from.encap({ recipientPublicKey })
      const secret = toHex(new Uint8Array(sharedSecret))
      const recipientKey = await to.deserializePrivateKey(fromHex(xWing.seed))
      expect(toHex(new Uint8Array(await to.decap({ recipientKey, enc })))).toBe(secret)
      const other = changed(new Uint8Array(enc), 100)
      expect(toHex(new Uint8Array(await to.decap({ recipientKey, enc: other })))).not.toBe(secret)
    }
  })
})

describe("the derivation of archive passwords", () => {
  const derive = (password: string, salt = "00".repeat(16)) =>
    run(
      Effect.provide(
        Effect.flatMap(PasswordDerivation, ({ cost, derive }) =>
          derive(Redacted.make(password), { name: "argon2id", ...cost, salt })),
        cheapDerivation
      )
    ).then((bytes) =>
      toHex(Redacted.value(bytes))
    )

  it("is Argon2id of the password's NFC form", async () => {
    expect(await derive("caf\u00e9")).toBe(await derive("cafe\u0301"))
    expect(await derive("cafe")).not.toBe(await derive("caf\u00e9"))
    expect(await derive("cafe", "01".repeat(16))).not.toBe(await derive("cafe"))
    expect(await derive("cafe")).toHaveLength(128)
  })

  it("costs 128 MiB, 3 passes and 4 lanes, but for tests", async () => {
    const { cost } = await run(Effect.provide(PasswordDerivation, Derivation.layer))
    expect(cost).toEqual(argon2Cost)
    expect(argon2Cost).toEqual({ memory_kib: 131_072, passes: 3, lanes: 4 })
  })
})
