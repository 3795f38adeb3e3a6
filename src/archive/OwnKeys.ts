/**
 * Checks of a key that was made outside the service. Its proofs and what it seals cannot be verified without its secrets;
 * all that is visible is: whose it is, that its public half seals, and what opening it costs.
 */
import { Effect } from "effect"
import { sameBytes, utf8 } from "../domain/archive/Bytes.ts"
import type { Argon2Cost } from "../domain/archive/KeyDerivation.ts"
import { wrapIdOf } from "../domain/archive/KeyWrap.ts"
import { type MadeKey, type OwnKey, readOwnKey } from "../domain/archive/OwnKey.ts"
import { ParameterInvalid } from "../domain/Failure.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveCrypto, PasswordDerivation } from "../ports/archive/ArchiveCrypto.ts"
import { type ArchiveKey, ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import { Db } from "../ports/Db.ts"

const refuse = (param: string, message: string) =>
  Effect.fail(new ParameterInvalid({ param, message: `${param}: ${message}.` }))

const costs = ["memory_kib", "passes", "lanes"] as const

/**
 * The first parameter of a derivation that is not the service's own. A cheaper one is easier to guess; a dearer one takes
 * memory and time from everybody, with each password that the service has to check.
 */
const wrongCost = (asked: Argon2Cost, own: Argon2Cost) => costs.find((name) => asked[name] !== own[name])

/** The key of the JSON, bound to the organization. */
const accept = Effect.fnUntraced(function*(organizationId: OrganizationId, own: OwnKey) {
  if (own.organization_id !== organizationId) {
    return yield* refuse("organization_id", "is not this organization, to which the wraps are bound")
  }
  const { cost } = yield* PasswordDerivation
  const wrong = wrongCost(own.password.kdf, cost)
  if (wrong !== undefined) return yield* refuse(`password.kdf.${wrong}`, `expected ${cost[wrong]}`)
  return readOwnKey(own)
})

/** True if another key has the id, or had it; a browser that got no answer sends the key that is stored again. */
const isUsed = Effect.fnUntraced(function*(key: MadeKey) {
  const keys = yield* ArchiveKeys
  const current = yield* keys.current(key.organizationId)
  const isAnother = current?.keyId === key.keyId && current.wrapId !== wrapIdOf(key.password)
  return isAnother || (yield* keys.isRetired(key))
})

/** Accepts a new key pair, whose id no key of the organization had before. */
export const acceptKey = Effect.fnUntraced(function*(organizationId: OrganizationId, own: OwnKey) {
  const key = yield* accept(organizationId, own)
  const crypto = yield* ArchiveCrypto
  // The first of the archive's writers would die otherwise.
  const sealed = yield* Effect.exit(crypto.hpkeSeal(key.publicKey, utf8("archive-key-check/1"), new Uint8Array(32)))
  if (sealed._tag === "Failure") return yield* refuse("public_key", "is not a key of X-Wing")
  const used = yield* (yield* Db).read(organizationId, isUsed(key))
  if (used) return yield* refuse("key_id", "is the id of another key of the organization, or was")
  return key
})

/** Accepts other wraps of a key pair. */
export const acceptWraps = Effect.fnUntraced(function*(known: ArchiveKey, own: OwnKey) {
  const key = yield* accept(known.organizationId, own)
  if (key.keyId !== known.keyId) return yield* refuse("key_id", "is not that of the archive's key")
  if (!sameBytes(key.publicKey, known.publicKey)) {
    return yield* refuse("public_key", "is not that of the archive's key")
  }
  return key
})
