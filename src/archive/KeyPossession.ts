/**
 * A token that is given out sealed to an archive's key: it comes back only from where that key was opened. It is all that
 * the service can see of a password that it never gets.
 */
import { Effect, Redacted } from "effect"
import { boundTo, readBase64, readUtf8, toBase64, utf8 } from "../domain/archive/Bytes.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveKey } from "../ports/archive/ArchiveKeys.ts"
import type { ArchiveSeed } from "./KeyWraps.ts"

type Names = Pick<ArchiveKey, "organizationId" | "keyId" | "wrapId">

/** Its own purpose: no epoch's key opens in its place, so that a browser cannot be made to open one for the service. */
const purpose = ({ keyId, organizationId, wrapId }: Names) =>
  boundTo("archive-possession/1", organizationId, keyId, wrapId)

/** The token in base64, for whom can open the key. */
export const sealToken = Effect.fnUntraced(function*(key: Names & Pick<ArchiveKey, "publicKey">, token: string) {
  const crypto = yield* ArchiveCrypto
  return toBase64(yield* crypto.hpkeSeal(key.publicKey, purpose(key), utf8(token)))
})

export const openToken = Effect.fnUntraced(function*(key: Names, seed: ArchiveSeed, sealed: string) {
  const crypto = yield* ArchiveCrypto
  const unreadable = new ArchiveUnreadable({ part: "wrap" })
  const bytes = readBase64(sealed) ?? new Uint8Array()
  const opened = yield* Effect.mapError(
    crypto.hpkeOpen(Redacted.value(seed.bytes), purpose(key), bytes),
    () => unreadable
  )
  return readUtf8(opened) ?? (yield* unreadable)
})
