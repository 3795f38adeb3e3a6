/** The frozen vectors of the archive's format 1, and the layers that read them. */
import { XWing } from "@hpke/hybridkem-x-wing"
import { Effect, Layer, Redacted, Schema } from "effect"
import type { EpochKey } from "../../../src/archive/EpochKeys.ts"
import type { ArchiveSeed, WrapRow } from "../../../src/archive/KeyWraps.ts"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { boundTo, concat, pad } from "../../../src/domain/archive/Bytes.ts"
import { ArchiveKeyId, type EpochRef, type FramePlace, WrapKind } from "../../../src/domain/archive/Epoch.ts"
import { KeyDerivation } from "../../../src/domain/archive/KeyDerivation.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { makeHpke } from "../../../src/layers/archive/Hpke.ts"
import { NativeHkdf } from "../../../src/layers/archive/NativeHkdf.ts"
import * as NodeCrypto from "../../../src/layers/archive/NodeCrypto.ts"
import * as Derivation from "../../../src/layers/archive/PasswordDerivation.ts"
import * as WebCrypto from "../../../src/layers/archive/WebCrypto.ts"
import { ArchiveCrypto } from "../../../src/ports/archive/ArchiveCrypto.ts"
import frames from "../../golden/archive/1/frames.json" with { type: "json" }
import keys from "../../golden/archive/1/keys.json" with { type: "json" }

export const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"))
export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Node as it was before 24.7: X-Wing in JavaScript. */
const olderNode = Layer.effect(
  ArchiveCrypto,
  Effect.map(ArchiveCrypto, (crypto) => ({ ...crypto, ...makeHpke(new XWing(), new NativeHkdf()) }))
).pipe(Layer.provide(NodeCrypto.layer))

export const layers = { node: NodeCrypto.layer, "node without ML-KEM": olderNode, web: WebCrypto.layer }

/** Argon2id at 1 MiB, for tests alone. */
const cheapCost = { memory_kib: 1024, passes: 1, lanes: 1 }
export const cheapDerivation = Derivation.layerWith(cheapCost)

export const organizationId = Schema.decodeSync(OrganizationId)(keys.organization_id)
export const accountId = Schema.decodeSync(AccountId)(keys.account_id)
export const keyId = Schema.decodeSync(ArchiveKeyId)(keys.key_id)
export const publicKey = fromHex(keys.public_key)

export const vectorSeed = (): ArchiveSeed => ({ keyId, bytes: Redacted.make(fromHex(keys.seed)) })

export const epochRef = (epochId: bigint): EpochRef => ({ organizationId, accountId, epochId, keyId })

export const wraps = keys.wraps.map((wrap) => ({
  secret: Redacted.make(wrap.secret),
  row: {
    kind: Schema.decodeUnknownSync(WrapKind)(wrap.kind),
    kdf: Schema.decodeUnknownSync(KeyDerivation)(wrap.kdf),
    nonce: fromHex(wrap.nonce),
    sealed: fromHex(wrap.sealed),
    proof: fromHex(wrap.proof)
  } satisfies WrapRow
}))

export const epochs = keys.epochs.map((epoch) => ({ ...epoch, ref: epochRef(BigInt(epoch.epoch_id)) }))

export const vectorPlace = { chatId: BigInt(frames.chat_id), day: frames.day }

/** Records as the vectors write them: ids of messages in decimal. */
export const asVector = (records: unknown): unknown =>
  JSON.parse(JSON.stringify(records, (_, value) => typeof value === "bigint" ? String(value) : value))

export const otherOrganizationId = Schema.decodeSync(OrganizationId)("another")
export const otherAccountId = Schema.decodeSync(AccountId)("0190a5c4-0000-7000-8000-000000000002")

/** A frame as a writer of bad intent seals it: any bytes, deflated. */
export const sealPlain = Effect.fnUntraced(function*(key: EpochKey, place: FramePlace, bytes: Uint8Array) {
  const crypto = yield* ArchiveCrypto
  const plain = pad(yield* crypto.deflate(bytes), 64)
  const header = Buffer.alloc(20)
  header.writeUInt8(1, 0)
  header.writeBigUInt64BE(key.ref.epochId, 2)
  header.writeUInt32BE(12 + plain.length + 16, 14)
  const nonce = yield* crypto.random(12)
  const { accountId, organizationId } = key.ref
  const bound = boundTo("frame/1", organizationId, accountId, String(place.chatId), place.day, place.kind)
  const sealed = yield* crypto.aeadSeal(Redacted.value(key.frames), nonce, plain, concat(header, bound))
  return concat(header, nonce, sealed)
})
