/** Archive keys with their wraps, made where their password is typed: in the service, by an operator, or in a browser. */
import { Effect, Redacted } from "effect"
import { sameBytes } from "../domain/archive/Bytes.ts"
import type { WrapKind, WrapRef } from "../domain/archive/Epoch.ts"
import type { MadeKey } from "../domain/archive/OwnKey.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { type ArchiveSeed, eraseSeed, makeKeyPair, makeRecoveryCode, unwrapSeed, wrapSeed } from "./KeyWraps.ts"

/** The names of a key pair that its wraps are bound to. */
export type KeyNames = Omit<WrapRef, "kind">

/** A key that opens by its new secrets alone, of which the recovery code is shown once. */
export interface KeyWithCode {
  readonly key: MadeKey
  readonly recoveryCode: Redacted.Redacted
}

/** Wraps the seed under a password and a new recovery code. */
export const wrapKey = Effect.fnUntraced(function*(
  { keyId, organizationId, publicKey }: KeyNames,
  password: Redacted.Redacted,
  seed: ArchiveSeed
) {
  const recoveryCode = yield* makeRecoveryCode
  const seal = (kind: WrapKind, secret: Redacted.Redacted) =>
    // Only a recovery code that is none can be refused.
    Effect.orDie(wrapSeed({ organizationId, keyId, publicKey, kind }, secret, seed))
  const key: MadeKey = {
    organizationId,
    keyId,
    publicKey,
    password: yield* seal("password", password),
    recovery: yield* seal("recovery", recoveryCode)
  }
  return { key, recoveryCode } satisfies KeyWithCode
})

export const makeKey = Effect.fnUntraced(function*(organizationId: OrganizationId, password: Redacted.Redacted) {
  const { keyId, publicKey, seed } = yield* makeKeyPair
  return yield* Effect.ensuring(wrapKey({ organizationId, keyId, publicKey }, password, seed), eraseSeed(seed))
})

/**
 * Dies unless both secrets open the key to the seed of its public half. What is sealed to a key that nothing opens is
 * lost, and the service cannot see that it is.
 */
export const checkKey = Effect.fnUntraced(function*({ key, recoveryCode }: KeyWithCode, password: Redacted.Redacted) {
  const crypto = yield* ArchiveCrypto
  const { keyId, organizationId, publicKey } = key
  for (const [kind, secret] of [["password", password], ["recovery", recoveryCode]] as const) {
    const derived = yield* Effect.acquireUseRelease(
      Effect.orDie(unwrapSeed({ organizationId, keyId, publicKey, kind }, key[kind], secret)),
      ({ bytes }) => crypto.publicKey(Redacted.value(bytes)),
      eraseSeed
    )
    if (!sameBytes(derived, publicKey)) return yield* Effect.die(new Error("The key that was made does not open"))
  }
})
