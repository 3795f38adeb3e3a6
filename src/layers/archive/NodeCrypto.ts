/** The archive's primitives over Node's cryptography and zlib. */
import { XWing } from "@hpke/hybridkem-x-wing"
import { Effect, Layer } from "effect"
import * as crypto from "node:crypto"
import * as zlib from "node:zlib"
import { ArchiveCrypto, NotOpened } from "../../ports/archive/ArchiveCrypto.ts"
import { secretKey } from "../crypto/Gcm.ts"
import { makeHpke } from "./Hpke.ts"
import { NativeHkdf } from "./NativeHkdf.ts"
import { hasNativeXWing, NativeXWing, publicKeyOf } from "./NativeXWing.ts"

const tagSize = 16

/** The bytes without Node's additions to them. */
const plain = (bytes: Buffer): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)

const seal = (key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array, additional: Uint8Array): Uint8Array => {
  const cipher = crypto.createCipheriv("aes-256-gcm", secretKey(key), nonce)
  cipher.setAAD(additional)
  return plain(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]))
}

const open = (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, additional: Uint8Array): Uint8Array => {
  const end = sealed.length - tagSize
  const decipher = crypto.createDecipheriv("aes-256-gcm", secretKey(key), nonce, { authTagLength: tagSize })
  decipher.setAAD(additional)
  decipher.setAuthTag(sealed.subarray(end))
  const opened = decipher.update(sealed.subarray(0, end))
  decipher.final()
  return plain(opened)
}

/** The answer with `info`, which Node's types lack: `bytesWritten` is how much of the input was used. */
interface InflatedAnswer {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

const isInflated = (answer: object): answer is InflatedAnswer => "engine" in answer

/** Room for what the bytes mostly inflate to, so that it is one piece: zlib takes 16 KiB for the smallest page otherwise. */
const roomFor = ({ length }: Uint8Array): number => Math.min(Math.max(length * 6, 1024), 256 * 1024)

/**
 * Deflated with a window that the bytes fit into: with one of 32 KiB, a small page takes a quarter longer and comes out the
 * same.
 */
const deflate = (bytes: Uint8Array): Uint8Array => {
  const windowBits = Math.min(Math.max(Math.ceil(Math.log2(bytes.length)), 9), 15)
  const chunkSize = Math.min(Math.max(bytes.length, 1024), 256 * 1024)
  return plain(zlib.deflateRawSync(bytes, { level: 6, windowBits, memLevel: Math.min(windowBits - 6, 8), chunkSize }))
}

const inflate = (bytes: Uint8Array, limit: number): Uint8Array => {
  const options = { maxOutputLength: limit, chunkSize: roomFor(bytes), info: true }
  const answer: object = zlib.inflateRawSync(bytes, options)
  if (!isInflated(answer) || answer.engine.bytesWritten !== bytes.length) {
    throw new RangeError("Bytes follow the deflated stream")
  }
  return plain(answer.buffer)
}

const opening = (bytes: () => Uint8Array) => Effect.try({ try: bytes, catch: () => new NotOpened() })

/** Node's own X-Wing from 24.7 on, before that the one in JavaScript. */
export const layer = Layer.sync(ArchiveCrypto, () => {
  const hpke = makeHpke(hasNativeXWing ? new NativeXWing() : new XWing(), new NativeHkdf())
  return {
    ...hpke,
    random: (size) => Effect.sync(() => crypto.randomFillSync(new Uint8Array(size))),
    sha256: (bytes) => Effect.sync(() => plain(crypto.createHash("sha256").update(bytes).digest())),
    hmac: (key, bytes) => Effect.sync(() => plain(crypto.createHmac("sha256", secretKey(key)).update(bytes).digest())),
    hkdf: (key, info, size) =>
      Effect.sync(() => new Uint8Array(crypto.hkdfSync("sha256", secretKey(key), "", info, size))),
    aeadSeal: (key, nonce, bytes, additional) => Effect.sync(() => seal(key, nonce, bytes, additional)),
    aeadOpen: (key, nonce, sealed, additional) => opening(() => open(key, nonce, sealed, additional)),
    publicKey: (seed) => hasNativeXWing ? Effect.sync(() => plain(publicKeyOf(seed))) : hpke.publicKey(seed),
    deflate: (bytes) => Effect.sync(() => deflate(bytes)),
    inflate: (bytes, limit) => opening(() => inflate(bytes, limit))
  }
})
