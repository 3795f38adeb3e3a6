/** The primitives under the archive, over Node's cryptography or a browser's. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type { Argon2Cost, Argon2Parameters } from "../../domain/archive/KeyDerivation.ts"

/** Sealed bytes do not open with this key and these additional bytes, or do not inflate within the limit. */
export class NotOpened extends Schema.TaggedError<NotOpened>()("NotOpened", {}) {}

/**
 * Law: open ∘ seal = identity; any changed bit of key, nonce, ciphertext, tag or additional bytes fails; all layers agree
 * on `test/golden/archive/1`. No method keeps what it is given.
 */
export class ArchiveCrypto extends Context.Service<ArchiveCrypto, {
  /** Secure random bytes. */
  random(size: number): Effect.Effect<Uint8Array>
  sha256(bytes: Uint8Array): Effect.Effect<Uint8Array>
  /** HMAC-SHA-256: 32 bytes. */
  hmac(key: Uint8Array, bytes: Uint8Array): Effect.Effect<Uint8Array>
  /** HKDF-SHA-256 (RFC 5869) with an empty salt. */
  hkdf(key: Uint8Array, info: Uint8Array, size: number): Effect.Effect<Uint8Array>
  /** AES-256-GCM with a nonce of 12 bytes: the ciphertext and its tag of 16 bytes. */
  aeadSeal(key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array, additional: Uint8Array): Effect.Effect<Uint8Array>
  aeadOpen(
    key: Uint8Array,
    nonce: Uint8Array,
    sealed: Uint8Array,
    additional: Uint8Array
  ): Effect.Effect<Uint8Array, NotOpened>
  /** The X-Wing public key, 1,216 bytes, of a seed of 32 bytes. */
  publicKey(seed: Uint8Array): Effect.Effect<Uint8Array>
  /**
   * HPKE (RFC 9180), base mode, single shot, KEM 0x647A (X-Wing), KDF 0x0001, AEAD 0x0002: the encapsulated key of 1,120
   * bytes, the ciphertext, and its tag of 16 bytes. Dies where the public key is not one.
   */
  hpkeSeal(publicKey: Uint8Array, info: Uint8Array, bytes: Uint8Array): Effect.Effect<Uint8Array>
  hpkeOpen(seed: Uint8Array, info: Uint8Array, sealed: Uint8Array): Effect.Effect<Uint8Array, NotOpened>
  /** Raw deflate (RFC 1951). */
  deflate(bytes: Uint8Array): Effect.Effect<Uint8Array>
  /** Fails where the result has more than `limit` bytes, and where the stream is broken, cut off or followed by more. */
  inflate(bytes: Uint8Array, limit: number): Effect.Effect<Uint8Array, NotOpened>
}>()("org-security-console/ports/archive/ArchiveCrypto") {}

/** Slow derivation of keys from a password; who calls it bounds how many run at a time. */
export class PasswordDerivation extends Context.Service<PasswordDerivation, {
  /** The cost of new derivations. */
  readonly cost: Argon2Cost
  /** Argon2id of the password's NFC form: 64 bytes. */
  derive(
    password: Redacted.Redacted,
    parameters: Argon2Parameters
  ): Effect.Effect<Redacted.Redacted<Uint8Array>>
}>()("org-security-console/ports/archive/ArchiveCrypto/PasswordDerivation") {}
