/** The archive key pair of an organization, and the wraps that open its seed: archive-storage suite 1. */
import { Effect, Redacted, Schema } from "effect"
import { boundTo, hex, sameBytes, uuidOf } from "../domain/archive/Bytes.ts"
import { ArchiveKeyId, type WrapKind, type WrapRef } from "../domain/archive/Epoch.ts"
import type { KeyDerivation } from "../domain/archive/KeyDerivation.ts"
import type { WrapRow } from "../domain/archive/KeyWrap.ts"
import { formatRecoveryCode, readRecoveryCode } from "../domain/archive/RecoveryCode.ts"
import { ArchiveUnreadable, WrongArchivePassword } from "../domain/archive/Unreadable.ts"
import { ArchiveCrypto, PasswordDerivation } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveKey, WrappedKey } from "../ports/archive/ArchiveKeys.ts"

export type { WrapRow } from "../domain/archive/KeyWrap.ts"

/** The private half of an archive key pair, 32 bytes; the owner of its scope zeroes it by `eraseSeed`. */
export interface ArchiveSeed {
  readonly keyId: ArchiveKeyId
  readonly bytes: Redacted.Redacted<Uint8Array>
}

/** A new key pair; `publicKey` has 1,216 bytes. */
export interface ArchiveKeyPair {
  readonly keyId: ArchiveKeyId
  readonly publicKey: Uint8Array
  readonly seed: ArchiveSeed
}

const nonceSize = 12
const saltSize = 16

export const eraseSeed = (seed: ArchiveSeed): Effect.Effect<void> =>
  Effect.sync(() => {
    Redacted.value(seed.bytes).fill(0)
  })

export const makeKeyPair: Effect.Effect<ArchiveKeyPair, never, ArchiveCrypto> = Effect.gen(function*() {
  const crypto = yield* ArchiveCrypto
  const keyId = Schema.decodeSync(ArchiveKeyId)(uuidOf(yield* crypto.random(16)))
  const seed = yield* crypto.random(32)
  return { keyId, publicKey: yield* crypto.publicKey(seed), seed: { keyId, bytes: Redacted.make(seed) } }
})

/** A recovery code of 256 random bits, as it is printed once. */
export const makeRecoveryCode: Effect.Effect<Redacted.Redacted, never, ArchiveCrypto> = Effect.gen(function*() {
  const crypto = yield* ArchiveCrypto
  const bytes = yield* crypto.random(32)
  const code = Redacted.make(formatRecoveryCode(bytes))
  bytes.fill(0)
  return code
})

interface WrapKeys {
  readonly kek: Uint8Array
  readonly check: Uint8Array
}

const recoveryKeys = Effect.fnUntraced(function*(names: ReadonlyArray<string>, secret: Redacted.Redacted) {
  const crypto = yield* ArchiveCrypto
  const code = readRecoveryCode(Redacted.value(secret))
  if (code === null) return yield* new WrongArchivePassword()
  const kek = yield* crypto.hkdf(code, boundTo("archive-recovery/1", ...names), 32)
  const check = yield* crypto.hkdf(code, boundTo("archive-recovery-proof/1", ...names), 32)
  code.fill(0)
  return { kek, check }
})

const wrapKeys = Effect.fnUntraced(function*(
  names: ReadonlyArray<string>,
  kdf: KeyDerivation,
  secret: Redacted.Redacted
) {
  if (kdf.name === "hkdf-sha256") return yield* recoveryKeys(names, secret)
  const derivation = yield* PasswordDerivation
  const derived = Redacted.value(yield* derivation.derive(secret, kdf))
  const keys: WrapKeys = { kek: derived.slice(0, 32), check: derived.slice(32, 64) }
  derived.fill(0)
  return keys
})

const eraseKeys = (keys: WrapKeys) =>
  Effect.sync(() => {
    keys.kek.fill(0)
    keys.check.fill(0)
  })

/** The names that a wrap is bound to. */
const namesOf = Effect.fnUntraced(function*(ref: WrapRef) {
  const crypto = yield* ArchiveCrypto
  return [ref.organizationId, ref.keyId, ref.kind, hex(yield* crypto.sha256(ref.publicKey))]
})

const derivationFor = Effect.fnUntraced(function*(kind: WrapKind) {
  if (kind === "recovery") return { name: "hkdf-sha256" } satisfies KeyDerivation
  const crypto = yield* ArchiveCrypto
  const { cost } = yield* PasswordDerivation
  const salt = hex(yield* crypto.random(saltSize))
  return { name: "argon2id", ...cost, salt } satisfies KeyDerivation
})

/** Seals the seed under a password, or under a recovery code; fails where that code is not one. */
export const wrapSeed: (
  ref: WrapRef,
  secret: Redacted.Redacted,
  seed: ArchiveSeed
) => Effect.Effect<WrapRow, WrongArchivePassword, ArchiveCrypto | PasswordDerivation> = Effect.fnUntraced(
  function*(ref, secret, seed) {
    const crypto = yield* ArchiveCrypto
    const kdf = yield* derivationFor(ref.kind)
    const names = yield* namesOf(ref)
    const keys = yield* wrapKeys(names, kdf, secret)
    const bound = boundTo("archive-wrap/1", ...names)
    const nonce = yield* crypto.random(nonceSize)
    const sealed = yield* crypto.aeadSeal(keys.kek, nonce, Redacted.value(seed.bytes), bound)
    const proof = yield* crypto.hmac(keys.check, bound)
    yield* eraseKeys(keys)
    return { kind: ref.kind, kdf, nonce, sealed, proof }
  }
)

/**
 * Opens the seed. `WrongArchivePassword`: the proof is another one; `ArchiveUnreadable`: the proof is right, and the seed
 * does not open, or the wrap is not of this kind.
 */
export const unwrapSeed: (
  ref: WrapRef,
  wrap: WrapRow,
  secret: Redacted.Redacted
) => Effect.Effect<ArchiveSeed, WrongArchivePassword | ArchiveUnreadable, ArchiveCrypto | PasswordDerivation> = Effect
  .fnUntraced(function*(ref, wrap, secret) {
    const crypto = yield* ArchiveCrypto
    const unreadable = new ArchiveUnreadable({ part: "wrap" })
    if (wrap.kind !== ref.kind || (wrap.kdf.name === "hkdf-sha256") !== (ref.kind === "recovery")) {
      return yield* unreadable
    }
    const names = yield* namesOf(ref)
    const keys = yield* wrapKeys(names, wrap.kdf, secret)
    const bound = boundTo("archive-wrap/1", ...names)
    const proof = yield* crypto.hmac(keys.check, bound)
    const opened = Effect.mapError(crypto.aeadOpen(keys.kek, wrap.nonce, wrap.sealed, bound), () => unreadable)
    const proven = sameBytes(proof, wrap.proof) ? Effect.void : Effect.fail(new WrongArchivePassword())
    const bytes = yield* Effect.ensuring(Effect.andThen(proven, opened), eraseKeys(keys))
    return { keyId: ref.keyId, bytes: Redacted.make(bytes) }
  })

/** A seed with the key pair that it is of. */
export interface OpenedSeed {
  readonly key: ArchiveKey
  readonly seed: ArchiveSeed
}

/** Opens the first of the key pairs whose password it is; each one that is tried takes a derivation. */
export const openFirst = Effect.fnUntraced(function*(keys: ReadonlyArray<WrappedKey>, password: Redacted.Redacted) {
  for (const { key, wrap } of keys) {
    const opened = yield* unwrapSeed({ ...key, kind: "password" }, wrap, password).pipe(
      Effect.map((seed): OpenedSeed | null => ({ key, seed })),
      Effect.catchTag("WrongArchivePassword", () => Effect.succeed(null))
    )
    if (opened !== null) return opened
  }
  return yield* new WrongArchivePassword()
})
