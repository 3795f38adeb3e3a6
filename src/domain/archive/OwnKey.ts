/**
 * An archive key pair that was made outside the service, by the owner's browser or by an operator: its public half, and
 * the private half in two wraps. Nothing in it opens anything without a secret that only people have.
 */
import { Schema } from "effect"
import { isUuid } from "../JsonShapes.ts"
import { OrganizationId } from "../people/Access.ts"
import { readBase64, toBase64 } from "./Bytes.ts"
import { type ArchiveKeyId, archiveSuite, type WrapKind } from "./Epoch.ts"
import { Argon2Parameters, type KeyDerivation, RecoveryParameters } from "./KeyDerivation.ts"
import type { WrapRow } from "./KeyWrap.ts"

/** A key pair with the wraps of its password and of its recovery code. */
export interface MadeKey {
  readonly organizationId: OrganizationId
  readonly keyId: ArchiveKeyId
  readonly publicKey: Uint8Array
  readonly password: WrapRow
  readonly recovery: WrapRow
}

const isBase64Of = (size: number) => (text: string): boolean => {
  const bytes = readBase64(text)
  return bytes?.length === size && toBase64(bytes) === text
}

const Bytes = (size: number) =>
  Schema.String.check(Schema.makeFilter(isBase64Of(size), { expected: `${size} bytes in base64` }))

/** Wraps are bound to the text of the id: another case would be another name. */
const KeyId = Schema.String.check(Schema.makeFilter(isUuid, { expected: "a UUID in lower case" })).pipe(
  Schema.brand("ArchiveKeyId")
)

/** Bytes of a seed, and of the tag of AES-GCM. */
const seedSize = 32
const tagSize = 16

const sealedSeed = { nonce: Bytes(12), sealed: Bytes(seedSize + tagSize), proof: Bytes(32) }
const PasswordWrap = Schema.Struct({ kdf: Argon2Parameters, ...sealedSeed })
const RecoveryWrap = Schema.Struct({ kdf: RecoveryParameters, ...sealedSeed })

/** The JSON that it is sent and kept in. */
export const OwnKey = Schema.Struct({
  organization_id: OrganizationId,
  key_id: KeyId,
  suite: Schema.Literal(archiveSuite),
  public_key: Bytes(1216),
  password: PasswordWrap,
  recovery: RecoveryWrap
})
export type OwnKey = typeof OwnKey.Type

/** Strictly read: an unknown member is a fault. */
export const decodeOwnKey = Schema.decodeUnknownResult(OwnKey, { onExcessProperty: "error" })

/** A wrap as JSON has it. */
interface Wrap {
  readonly kdf: KeyDerivation
  readonly nonce: string
  readonly sealed: string
  readonly proof: string
}

const bytesOf = (text: string): Uint8Array => readBase64(text) ?? new Uint8Array()

export const wrapRow = (kind: WrapKind, { kdf, nonce, proof, sealed }: Wrap): WrapRow => ({
  kind,
  kdf,
  nonce: bytesOf(nonce),
  sealed: bytesOf(sealed),
  proof: bytesOf(proof)
})

export const readOwnKey = ({ key_id, organization_id, password, public_key, recovery }: OwnKey): MadeKey => ({
  organizationId: organization_id,
  keyId: key_id,
  publicKey: bytesOf(public_key),
  password: wrapRow("password", password),
  recovery: wrapRow("recovery", recovery)
})

export const wrapJson = ({ kdf, nonce, proof, sealed }: WrapRow): Wrap => ({
  kdf,
  nonce: toBase64(nonce),
  sealed: toBase64(sealed),
  proof: toBase64(proof)
})

/** The text that `OwnKey` reads. */
export const ownKeyText = ({ keyId, organizationId, password, publicKey, recovery }: MadeKey): string =>
  JSON.stringify({
    organization_id: organizationId,
    key_id: keyId,
    suite: archiveSuite,
    public_key: toBase64(publicKey),
    password: wrapJson(password),
    recovery: wrapJson(recovery)
  })
