/** HPKE (RFC 9180) of the archive's suite: base mode, single shot, AES-256-GCM under HKDF-SHA-256. */
import { Aes256Gcm, CipherSuite, type HkdfSha256 } from "@hpke/core"
import type { XWing } from "@hpke/hybridkem-x-wing"
import { Effect } from "effect"
import { concat } from "../../domain/archive/Bytes.ts"
import { NotOpened } from "../../ports/archive/ArchiveCrypto.ts"

/** The encapsulated key has 1,120 bytes. */
export const makeHpke = (kem: XWing, kdf: HkdfSha256) => {
  const suite = new CipherSuite({ kem, kdf, aead: new Aes256Gcm() })
  const seal = async (publicKey: Uint8Array, info: Uint8Array, bytes: Uint8Array) => {
    const recipientPublicKey = await kem.deserializePublicKey(publicKey)
    const { ct, enc } = await suite.seal({ recipientPublicKey, info }, bytes)
    return concat(new Uint8Array(enc), new Uint8Array(ct))
  }
  const open = async (seed: Uint8Array, info: Uint8Array, sealed: Uint8Array) => {
    const recipientKey = await kem.deserializePrivateKey(seed)
    const enc = sealed.slice(0, kem.encSize)
    return new Uint8Array(await suite.open({ recipientKey, info, enc }, sealed.slice(kem.encSize)))
  }
  return {
    publicKey: (seed: Uint8Array) =>
      Effect.promise(async () => {
        const { publicKey } = await kem.generateKeyPairDerand(seed)
        return new Uint8Array(await kem.serializePublicKey(publicKey))
      }),
    hpkeSeal: (publicKey: Uint8Array, info: Uint8Array, bytes: Uint8Array) =>
      Effect.promise(() => seal(publicKey, info, bytes)),
    hpkeOpen: (seed: Uint8Array, info: Uint8Array, sealed: Uint8Array) =>
      Effect.tryPromise({ try: () => open(seed, info, sealed), catch: () => new NotOpened() })
  }
}
