import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as crypto from "node:crypto"
import { type OAuthSecretKind, OAuthSecrets, type RefreshReference } from "../../../ports/oauth/OAuthPorts.ts"
import { base62, form, fromBase62 } from "../credentials/ApiKeys.ts"
import { hmac, type Pepper, Peppers } from "../Peppers.ts"

/** The text between the prefix and the secret, by kind: code, access token, refresh token, client secret. */
const marks: Readonly<Record<OAuthSecretKind, string>> = { code: "oac", access: "oat", refresh: "ort", client: "ocs" }

/** The reference of a refresh token: 16 bytes of its connection's id, 4 of its generation, 6 of its end. */
const referenceBytes = 26
const referenceLength = 35
const generationAt = 16
const expiryAt = generationAt + 4
/** 128 bits of an HMAC-SHA-256 over all before, under the pepper. */
const sealLength = 22
const sealHex = 32

const writeReference = ({ connectionId, expiresAt, generation }: RefreshReference): string => {
  const bytes = Buffer.alloc(referenceBytes)
  bytes.write(connectionId.replaceAll("-", ""), 0, "hex")
  bytes.writeUInt32BE(generation, generationAt)
  bytes.writeUIntBE(expiresAt.getTime(), expiryAt, 6)
  return base62(BigInt(`0x${bytes.toString("hex")}`), referenceLength)
}

const readReference = (text: string): RefreshReference => {
  const hex = (fromBase62(text) ?? 0n).toString(16).padStart(2 * referenceBytes, "0")
  const bytes = Buffer.from(hex, "hex")
  return {
    connectionId: hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
    generation: bytes.readUInt32BE(generationAt),
    expiresAt: new Date(bytes.readUIntBE(expiryAt, 6))
  }
}

const seal = (pepper: Pepper, text: string): string =>
  base62(BigInt(`0x${hmac(pepper, `reference ${text}`).slice(0, sealHex)}`), sealLength)

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && crypto.timingSafeEqual(Buffer.from(one), Buffer.from(other))

/**
 * Secrets in the form of API keys: the prefix, what it is, 256 random bits, and a checksum. A refresh token also says
 * whose it is, which one and until when, under a seal. The seal tells a used one from one that never was; it grants
 * nothing, for what works is known by its digest.
 */
export const layer = (prefix: string) =>
  Layer.effect(
    OAuthSecrets,
    Effect.gen(function*() {
      const peppers = yield* Peppers
      const random = yield* SecureRandom.SecureRandom
      const formOf = (kind: OAuthSecretKind) => form(`${prefix}_${marks[kind]}_`)
      const refresh = form(`${prefix}_${marks.refresh}_`, referenceLength + sealLength)
      const isSealed = (token: Redacted.Redacted): boolean => {
        const { said, secret } = refresh.read(token)
        const text = secret + said.slice(0, referenceLength)
        return peppers.some((pepper) => isSame(seal(pepper, text), said.slice(referenceLength)))
      }
      return OAuthSecrets.of({
        make: (kind) => Effect.map(random.randomBytes(32), (bytes) => formOf(kind).write(bytes)),
        makeRefresh: (reference) =>
          Effect.map(random.randomBytes(32), (bytes) =>
            refresh.write(bytes, (secret) => {
              const said = writeReference(reference)
              return said + seal(peppers[0], secret + said)
            })),
        reference: (token) =>
          refresh.matches(token) ? readReference(refresh.read(token).said.slice(0, referenceLength)) : null,
        isWellFormed: (kind, secret) =>
          formOf(kind).matches(secret) || kind === "refresh" && refresh.matches(secret) && isSealed(secret),
        digest: (secret) => ({ digest: hmac(peppers[0], Redacted.value(secret)), pepper_id: peppers[0].id }),
        digests: (secret) => peppers.map((pepper) => hmac(pepper, Redacted.value(secret))),
        challenge: (verifier) => crypto.createHash("sha256").update(Redacted.value(verifier)).digest("base64url"),
        newId: random.uuidV7()
      })
    })
  )
