/**
 * The seed of an archive key pair as an OAuth connection keeps it: sealed under the secret of its code or token, of which
 * the database has the digest alone.
 */
import { Effect, Redacted } from "effect"
import { boundTo, concat, sameBytes, utf8 } from "../domain/archive/Bytes.ts"
import type { ArchiveKeyId } from "../domain/archive/Epoch.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveKey, WrappedKey } from "../ports/archive/ArchiveKeys.ts"
import { type ArchiveSeed, eraseSeed, type OpenedSeed } from "./KeyWraps.ts"

/** The names that a stored seed is bound to; another password of the archive makes it worthless. */
export interface StoredUnlockRef {
  readonly organizationId: OrganizationId
  readonly connectionId: string
  readonly keyId: ArchiveKeyId
  readonly wrapId: string
}

export const storedUnlockRef = (
  { keyId, organizationId, wrapId }: ArchiveKey,
  connectionId: string
): StoredUnlockRef => ({
  organizationId,
  connectionId,
  keyId,
  wrapId
})

const nonceSize = 12

const keyOf = Effect.fnUntraced(
  function*({ connectionId, keyId, organizationId, wrapId }: StoredUnlockRef, secret: Redacted.Redacted) {
    const crypto = yield* ArchiveCrypto
    const bound = boundTo("archive-unlock/1", organizationId, connectionId, keyId, wrapId)
    const key = yield* crypto.hkdf(utf8(Redacted.value(secret)), bound, 32)
    return { bound, crypto, key }
  }
)

/** The nonce, the sealed seed and its tag: 60 bytes. The secret has 256 random bits: it needs no slow derivation. */
export const storeSeed = Effect.fnUntraced(
  function*(ref: StoredUnlockRef, secret: Redacted.Redacted, seed: ArchiveSeed) {
    const { bound, crypto, key } = yield* keyOf(ref, secret)
    const nonce = yield* crypto.random(nonceSize)
    const sealed = yield* crypto.aeadSeal(key, nonce, Redacted.value(seed.bytes), bound)
    key.fill(0)
    return concat(nonce, sealed)
  }
)

/** The seed; its owner zeroes it. Fails for another secret, connection, key pair or password than it was stored with. */
export const openStoredSeed = Effect.fnUntraced(
  function*(ref: StoredUnlockRef, secret: Redacted.Redacted, stored: Uint8Array) {
    const { bound, crypto, key } = yield* keyOf(ref, secret)
    const opened = crypto.aeadOpen(key, stored.subarray(0, nonceSize), stored.subarray(nonceSize), bound)
    const bytes = yield* Effect.mapError(opened, () => new ArchiveUnreadable({ part: "wrap" })).pipe(
      Effect.ensuring(Effect.sync(() => key.fill(0)))
    )
    return { keyId: ref.keyId, bytes: Redacted.make(bytes) } satisfies ArchiveSeed
  }
)

/**
 * Opens what is stored as the seed of the first of the key pairs that it is of. A public key that is not the seed's own
 * was put there by somebody else: nothing may be sealed to it.
 */
export const openStored = Effect.fnUntraced(function*(
  keys: ReadonlyArray<WrappedKey>,
  connectionId: string,
  secret: Redacted.Redacted,
  stored: Uint8Array
) {
  const crypto = yield* ArchiveCrypto
  const unreadable = new ArchiveUnreadable({ part: "wrap" })
  for (const { key } of keys) {
    const seed = yield* Effect.orElseSucceed(
      openStoredSeed(storedUnlockRef(key, connectionId), secret, stored),
      () => null
    )
    if (seed === null) continue
    if (sameBytes(yield* crypto.publicKey(Redacted.value(seed.bytes)), key.publicKey)) {
      return { key, seed } satisfies OpenedSeed
    }
    yield* eraseSeed(seed)
    return yield* unreadable
  }
  return yield* unreadable
})
