/** The archive's primitives over WebCrypto and the platform's streams, as browsers and Node have them. */
import { HkdfSha256 } from "@hpke/core"
import { XWing } from "@hpke/hybridkem-x-wing"
import { Effect, Layer } from "effect"
import { concat, sameBytes } from "../../domain/archive/Bytes.ts"
import { ArchiveCrypto, NotOpened } from "../../ports/archive/ArchiveCrypto.ts"
import { makeHpke } from "./Hpke.ts"

const { subtle } = globalThis.crypto

const isOwn = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer

/** Bytes that no other thread shares, which is all that WebCrypto takes. */
const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => isOwn(bytes) ? bytes : new Uint8Array(bytes)

const importKey = (key: Uint8Array) => subtle.importKey("raw", own(key), "AES-GCM", false, ["encrypt", "decrypt"])

const importedKeys = new WeakMap<Uint8Array, ReturnType<typeof importKey>>()

/** A key opens many pages, and another thread imports it: once, for as long as its bytes are held. */
const aeadKey = (key: Uint8Array): ReturnType<typeof importKey> => {
  const imported = importedKeys.get(key) ?? importKey(key)
  importedKeys.set(key, imported)
  return imported
}

const aead = (nonce: Uint8Array, additional: Uint8Array) => ({
  name: "AES-GCM",
  iv: own(nonce),
  additionalData: own(additional),
  tagLength: 128
})

const hmac = async (key: Uint8Array, bytes: Uint8Array) => {
  const imported = await subtle.importKey("raw", own(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  return new Uint8Array(await subtle.sign("HMAC", imported, own(bytes)))
}

const hkdf = async (key: Uint8Array, info: Uint8Array, size: number) => {
  const imported = await subtle.importKey("raw", own(key), "HKDF", false, ["deriveBits"])
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: own(info) }
  return new Uint8Array(await subtle.deriveBits(parameters, imported, size * 8))
}

const seal = async (key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array, additional: Uint8Array) =>
  new Uint8Array(await subtle.encrypt(aead(nonce, additional), await aeadKey(key), own(bytes)))

const open = async (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, additional: Uint8Array) =>
  new Uint8Array(await subtle.decrypt(aead(nonce, additional), await aeadKey(key), own(sealed)))

const streamed = async (bytes: Uint8Array, through: CompressionStream | DecompressionStream, limit: number) => {
  const parts: Array<Uint8Array> = []
  let size = 0
  const writer = through.writable.getWriter()
  // A fault of the input is met by the reader.
  writer.write(own(bytes)).catch(() => undefined)
  writer.close().catch(() => undefined)
  const reader = through.readable.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concat(...parts)
    parts.push(value)
    size += value.length
    if (size > limit) {
      await reader.cancel()
      throw new RangeError("The inflated bytes are beyond the limit")
    }
  }
}

const opening = (bytes: () => Promise<Uint8Array>) => Effect.tryPromise({ try: bytes, catch: () => new NotOpened() })

/** The answer to the last input. */
const remembering = <A>(make: (input: Uint8Array) => Promise<A>) => {
  let last: { readonly input: Uint8Array; readonly made: Promise<A> } | undefined
  return (input: Uint8Array): Promise<A> => {
    if (last === undefined || !sameBytes(last.input, input)) last = { input: input.slice(), made: make(input) }
    return last.made
  }
}

/** The point whose multiples are the public keys of X25519. */
const basePoint = Uint8Array.of(9, ...new Uint8Array(31))

/** X-Wing that expands a seed once: an archive opens many epochs with it, and the expansion is half of the work. */
class ExpandedXWing extends XWing {
  constructor() {
    super()
    const { _m: kem, _x25519: curve } = this
    kem.deriveKeyPair = remembering(kem.deriveKeyPair.bind(kem))
    const multiply = curve.derive.bind(curve)
    const publicKeyOf = remembering((secret) => multiply(secret, basePoint))
    curve.derive = (secret, point) => sameBytes(point, basePoint) ? publicKeyOf(secret) : multiply(secret, point)
  }
}

export const layer = Layer.sync(ArchiveCrypto, () => ({
  ...makeHpke(new ExpandedXWing(), new HkdfSha256()),
  random: (size) => Effect.sync(() => globalThis.crypto.getRandomValues(new Uint8Array(size))),
  sha256: (bytes) => Effect.promise(async () => new Uint8Array(await subtle.digest("SHA-256", own(bytes)))),
  hmac: (key, bytes) => Effect.promise(() => hmac(key, bytes)),
  hkdf: (key, info, size) => Effect.promise(() => hkdf(key, info, size)),
  aeadSeal: (key, nonce, bytes, additional) => Effect.promise(() => seal(key, nonce, bytes, additional)),
  aeadOpen: (key, nonce, sealed, additional) => opening(() => open(key, nonce, sealed, additional)),
  deflate: (bytes) => Effect.promise(() => streamed(bytes, new CompressionStream("deflate-raw"), Infinity)),
  inflate: (bytes, limit) => opening(() => streamed(bytes, new DecompressionStream("deflate-raw"), limit))
}))
