/** The names of what archived data is sealed under, and where it belongs. */
import { type Redacted, Schema } from "effect"
import type { AccountId } from "../accounts/Account.ts"
import { Uuid } from "../JsonShapes.ts"
import type { OrganizationId } from "../people/Access.ts"

/** The name of an organization's archive key pair: a UUID. */
export const ArchiveKeyId = Uuid.pipe(Schema.brand("ArchiveKeyId"))
export type ArchiveKeyId = typeof ArchiveKeyId.Type

/** Suite 1 names all constructions of this format; another suite is a new key pair for new epochs. */
export const archiveSuite = 1

/** One epoch key of one account and writer. */
export interface EpochRef {
  readonly organizationId: OrganizationId
  readonly accountId: AccountId
  readonly epochId: bigint
  readonly keyId: ArchiveKeyId
}

/** An opened epoch; its owner zeroes it by `eraseEpochKey`. Each key has 32 bytes. */
export interface EpochKey {
  readonly ref: EpochRef
  readonly key: Redacted.Redacted<Uint8Array>
  readonly frames: Redacted.Redacted<Uint8Array>
  readonly vocabularies: Redacted.Redacted<Uint8Array>
  readonly files: Redacted.Redacted<Uint8Array>
  readonly marks: Redacted.Redacted<Uint8Array>
}

/** The keys that an epoch's frames, and its vocabularies, are sealed and opened with. */
export type FrameKey = Pick<EpochKey, "frames" | "ref">
export type VocabularyKey = Pick<EpochKey, "ref" | "vocabularies">

export const FrameKind = Schema.Literals(["messages", "changes", "members", "chat"])
export type FrameKind = typeof FrameKind.Type

/** The chat and UTC day that a frame belongs to; it opens nowhere else. `day` is `YYYY-MM-DD`. */
export interface FramePlace<Kind extends FrameKind = FrameKind> {
  readonly chatId: bigint
  readonly day: string
  readonly kind: Kind
}

export const WrapKind = Schema.Literals(["password", "recovery"])
export type WrapKind = typeof WrapKind.Type

/** The archive key pair that a wrap belongs to, and what opens it. */
export interface WrapRef {
  readonly organizationId: OrganizationId
  readonly keyId: ArchiveKeyId
  readonly publicKey: Uint8Array
  readonly kind: WrapKind
}
