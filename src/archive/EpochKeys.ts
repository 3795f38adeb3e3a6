/** Epoch keys: 32 random bytes, sealed once to the organization's public key, and the keys derived from them. */
import { Effect, Redacted } from "effect"
import { boundTo } from "../domain/archive/Bytes.ts"
import type { EpochKey, EpochRef } from "../domain/archive/Epoch.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveSeed } from "./KeyWraps.ts"

export type { EpochKey } from "../domain/archive/Epoch.ts"

/** A new epoch key is sealed to 1,168 bytes. */
export interface NewEpoch {
  readonly key: EpochKey
  readonly sealedKey: Uint8Array
}

const keySize = 32

export const eraseEpochKey = (epoch: EpochKey): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const key of [epoch.key, epoch.frames, epoch.vocabularies, epoch.files, epoch.marks]) {
      Redacted.value(key).fill(0)
    }
  })

const infoOf = (ref: EpochRef): Uint8Array =>
  boundTo("archive-epoch/1", ref.organizationId, ref.accountId, String(ref.epochId), ref.keyId)

/** The epoch of a key, with the keys that are derived from it. */
const epochKeyOf: (ref: EpochRef, key: Uint8Array) => Effect.Effect<EpochKey, never, ArchiveCrypto> = Effect
  .fnUntraced(function*(ref, key) {
    const crypto = yield* ArchiveCrypto
    const subkey = (name: string) =>
      Effect.map(crypto.hkdf(key, boundTo(name), keySize), (bytes) => Redacted.make(bytes))
    return {
      ref,
      key: Redacted.make(key),
      frames: yield* subkey("frame/1"),
      vocabularies: yield* subkey("vocabulary/1"),
      files: yield* subkey("file-key/1"),
      marks: yield* subkey("mark/1")
    }
  })

/** A new epoch key, sealed to the public key; it dies where that is not one. */
export const newEpoch: (ref: EpochRef, publicKey: Uint8Array) => Effect.Effect<NewEpoch, never, ArchiveCrypto> = Effect
  .fnUntraced(function*(ref, publicKey) {
    const crypto = yield* ArchiveCrypto
    const key = yield* crypto.random(keySize)
    return { key: yield* epochKeyOf(ref, key), sealedKey: yield* crypto.hpkeSeal(publicKey, infoOf(ref), key) }
  })

export const openEpoch: (
  ref: EpochRef,
  sealedKey: Uint8Array,
  seed: ArchiveSeed
) => Effect.Effect<EpochKey, ArchiveUnreadable, ArchiveCrypto> = Effect.fnUntraced(function*(ref, sealedKey, seed) {
  const crypto = yield* ArchiveCrypto
  const key = yield* crypto.hpkeOpen(Redacted.value(seed.bytes), infoOf(ref), sealedKey).pipe(
    Effect.mapError(() => new ArchiveUnreadable({ part: "epoch" }))
  )
  if (key.length !== keySize) return yield* new ArchiveUnreadable({ part: "epoch" })
  return yield* epochKeyOf(ref, key)
})
