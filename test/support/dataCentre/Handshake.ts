/** How a client and the data centre agree on a key, and prove that the data centre is the one that it should be. */
import { Long } from "@mtcute/core"
import { TlBinaryWriter } from "@mtcute/core/utils.js"
import * as crypto from "node:crypto"
import * as Cipher from "./Cipher.ts"
import { read, type Word, write } from "./Words.ts"

/** The key that the data centre proves itself with. */
export interface Identity {
  /** In PEM, for clients. */
  readonly publicKey: string
  readonly fingerprint: Long
  readonly privateKey: crypto.KeyObject
}

const fingerprintOf = (modulus: Uint8Array, exponent: Uint8Array): Buffer => {
  const writer = TlBinaryWriter.manual(512)
  writer.bytes(modulus)
  writer.bytes(exponent)
  return Cipher.sha1(writer.result()).subarray(-8)
}

/**
 * A new identity. The library never finds a key whose fingerprint begins with a zero digit, so that one is not taken.
 */
export const makeIdentity = (): Identity => {
  for (;;) {
    const { privateKey, publicKey } = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 })
    const { e = "", n = "" } = privateKey.export({ format: "jwk" })
    const [modulus, exponent] = [Buffer.from(n, "base64url"), Buffer.from(e, "base64url")]
    const fingerprint = fingerprintOf(modulus, exponent)
    if (fingerprint[7]! < 16) continue
    return {
      publicKey: String(publicKey.export({ format: "pem", type: "pkcs1" })),
      fingerprint: Long.fromBytesLE([...fingerprint]),
      privateKey
    }
  }
}

/** A key that both sides have, and the salt of its first packets. */
export interface Agreed {
  readonly key: Buffer
  readonly salt: Long
}

/** The product of two primes that a client takes apart; it need not be large. */
const product = { p: 10_007n, q: 1_000_003n }

/** The answers to the requests of one connection that has no key yet; `agreed` gets what they end with. */
export const make = (identity: Identity, agreed: (agreed: Agreed) => void) => {
  const serverNonce = crypto.randomBytes(16)
  // As many bits as a group of 2048 is good for: more would only take longer.
  const secret = Cipher.toNumber(crypto.randomBytes(32))
  let newNonce: Uint8Array = new Uint8Array(32)

  const withHash = (content: Uint8Array): Buffer => {
    const hashed = Buffer.concat([Cipher.sha1(content), content])
    return Buffer.concat([hashed, crypto.randomBytes((16 - hashed.length % 16) % 16)])
  }

  /** What the client has sealed for whoever has the private key. */
  const opened = (sealed: Uint8Array): Word => {
    const plain = crypto.privateDecrypt({ key: identity.privateKey, padding: crypto.constants.RSA_NO_PADDING }, sealed)
    const ciphertext = plain.subarray(32)
    const mask = Cipher.sha256(ciphertext)
    const key = plain.subarray(0, 32).map((byte, at) => byte ^ mask[at]!)
    const content = Cipher.decrypt({ key, iv: Buffer.alloc(32) }, ciphertext)
    return read(content.subarray(0, 192).toReversed())
  }

  return (request: Word): Word => {
    const { nonce } = request
    switch (request._) {
      case "mt_req_pq_multi":
        return {
          _: "mt_resPQ",
          nonce,
          serverNonce,
          pq: Cipher.toBytes(product.p * product.q, 8),
          serverPublicKeyFingerprints: [identity.fingerprint]
        }
      case "mt_req_DH_params": {
        newNonce = opened(request["encryptedData"])["newNonce"]
        const answer = write({
          _: "mt_server_DH_inner_data",
          nonce,
          serverNonce,
          g: 3,
          dhPrime: Cipher.toBytes(Cipher.prime, 256),
          gA: Cipher.toBytes(Cipher.power(3n, secret), 256),
          serverTime: Math.floor(Date.now() / 1000)
        })
        const encryptedAnswer = Cipher.encrypt(Cipher.handshakeSecret(serverNonce, newNonce), withHash(answer))
        return { _: "mt_server_DH_params_ok", nonce, serverNonce, encryptedAnswer }
      }
      case "mt_set_client_DH_params": {
        const plain = Cipher.decrypt(Cipher.handshakeSecret(serverNonce, newNonce), request["encryptedData"])
        const { gB } = read(plain.subarray(20))
        const key = Cipher.toBytes(Cipher.power(Cipher.toNumber(gB), secret), 256)
        const salt = newNonce.subarray(0, 8).map((byte, at) => byte ^ serverNonce[at]!)
        agreed({ key, salt: Long.fromBytesLE([...salt]) })
        const digest = Cipher.sha1(newNonce, Buffer.of(1), Cipher.sha1(key).subarray(0, 8))
        return { _: "mt_dh_gen_ok", nonce, serverNonce, newNonceHash1: digest.subarray(4, 20) }
      }
      default:
        throw new Error(`${request._} is not a request of the handshake`)
    }
  }
}
