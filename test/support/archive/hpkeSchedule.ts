/** The key schedule of HPKE (RFC 9180, section 5.1, base mode, HKDF-SHA-256), written beside the library that is used. */
import * as crypto from "node:crypto"

/** The identifiers of KEM, KDF and AEAD, and the sizes of the AEAD's key and nonce. */
export interface HpkeSuite {
  readonly kem: number
  readonly kdf: number
  readonly aead: number
  readonly keySize: number
}

const nonceSize = 12
const none = Buffer.alloc(0)

const uint16 = (number: number) => Buffer.from([number >> 8, number & 0xff])

const hmac = (key: Uint8Array, ...parts: ReadonlyArray<Uint8Array>) =>
  crypto.createHmac("sha256", key).update(Buffer.concat(parts)).digest()

export const keySchedule = ({ aead, kdf, kem, keySize }: HpkeSuite, sharedSecret: Uint8Array, info: Uint8Array) => {
  const labelOf = (label: string) =>
    Buffer.concat([Buffer.from("HPKE-v1HPKE"), uint16(kem), uint16(kdf), uint16(aead), Buffer.from(label)])
  const extract = (salt: Uint8Array, label: string, bytes: Uint8Array) => hmac(salt, labelOf(label), bytes)
  /** No key is longer than one digest. */
  const expand = (secret: Uint8Array, label: string, context: Uint8Array, size: number) =>
    hmac(secret, uint16(size), labelOf(label), context, Uint8Array.of(1)).subarray(0, size)
  const context = Buffer.concat([
    Uint8Array.of(0),
    extract(none, "psk_id_hash", none),
    extract(none, "info_hash", info)
  ])
  const secret = extract(sharedSecret, "secret", none)
  return { key: expand(secret, "key", context, keySize), baseNonce: expand(secret, "base_nonce", context, nonceSize) }
}
