/** The ciphers that the library needs, by the host's own; the one missing mode comes with the library. */
import { getWasmUrl, ige256Decrypt, ige256Encrypt, initSync } from "@mtcute/wasm"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as zlib from "node:zlib"
import { BaseCryptoProvider, type CryptoProvider } from "./Protocol.ts"

const hash = (name: string) => (data: Uint8Array): Uint8Array => crypto.createHash(name).update(data).digest()

let isReady = false

/** Answers larger than this are refused: a few bytes can unpack to a great many. */
const largestAnswer = 32 * 1024 * 1024

export class Cipher extends BaseCryptoProvider implements CryptoProvider {
  readonly sha1 = hash("sha1")
  readonly sha256 = hash("sha256")

  initialize(): void {
    if (isReady) return
    initSync(fs.readFileSync(getWasmUrl()))
    isReady = true
  }

  pbkdf2(password: Uint8Array, salt: Uint8Array, iterations: number, length = 64, digest = "sha512") {
    return new Promise<Uint8Array>((resolve, reject) =>
      crypto.pbkdf2(
        password,
        salt,
        iterations,
        length,
        digest,
        (error, key) => error === null ? resolve(key) : reject(error)
      )
    )
  }

  hmacSha256(data: Uint8Array, key: Uint8Array): Uint8Array {
    return crypto.createHmac("sha256", key).update(data).digest()
  }

  createAesCtr(key: Uint8Array, iv: Uint8Array, encrypt: boolean) {
    const cipher = (encrypt ? crypto.createCipheriv : crypto.createDecipheriv)("aes-256-ctr", key, iv)
    return { process: (data: Uint8Array): Uint8Array => cipher.update(data) }
  }

  createAesIge(key: Uint8Array, iv: Uint8Array) {
    return {
      encrypt: (data: Uint8Array) => ige256Encrypt(data, key, iv),
      decrypt: (data: Uint8Array) => ige256Decrypt(data, key, iv)
    }
  }

  gzip(data: Uint8Array, maxSize: number): Uint8Array | null {
    const packed = zlib.deflateSync(data)
    return packed.length > maxSize ? null : packed
  }

  gunzip(data: Uint8Array): Uint8Array {
    return zlib.unzipSync(data, { maxOutputLength: largestAnswer })
  }

  randomFill(buffer: Uint8Array): void {
    crypto.randomFillSync(buffer)
  }

  override randomBytes(size: number): Uint8Array {
    return crypto.randomBytes(size)
  }
}
