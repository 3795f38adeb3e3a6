/** The key pairs of organizations' archives, and the wraps that their seeds are kept in. */
import { Context, type Effect, Schema } from "effect"
import type { ArchiveKeyId, WrapKind } from "../../domain/archive/Epoch.ts"
import type { WrapRow } from "../../domain/archive/KeyWrap.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { SealingKey } from "./ArchiveWriter.ts"

/** A key pair of an organization; new epochs are sealed to the current one. */
export interface ArchiveKey {
  readonly organizationId: OrganizationId
  readonly keyId: ArchiveKeyId
  readonly suite: number
  readonly publicKey: Uint8Array
  readonly madeAt: Date
  /** The time when its password was last set. */
  readonly passwordSetAt: Date
  /** Another one after each change of the password. */
  readonly wrapId: string
}

/** A wrap of the key pair's seed, as it is stored. */
export interface StoredWrap extends WrapRow {
  readonly madeAt: Date
}

/** A key pair with the wrap that its password opens. */
export interface WrappedKey {
  readonly key: ArchiveKey
  readonly wrap: StoredWrap
}

/** A key pair that is to be kept, with its wraps. */
export interface NewArchiveKey {
  readonly organizationId: OrganizationId
  readonly keyId: ArchiveKeyId
  readonly publicKey: Uint8Array
  readonly wraps: ReadonlyArray<WrapRow>
  /** The admin; null for the operator. */
  readonly madeBy: string | null
}

/**
 * Nothing proves that the service stored the public key for the organization: it was put there by somebody else, or the
 * pepper of its proof is lost.
 */
export class PublicKeyUnproven extends Schema.TaggedError<PublicKeyUnproven>()("PublicKeyUnproven", {}) {}

/** Each runs within the organization's transaction or read. */
export class ArchiveKeys extends Context.Service<ArchiveKeys, {
  /** The current key pair; null before there is an archive password. */
  current(organizationId: OrganizationId): Effect.Effect<ArchiveKey | null>
  /** The current public key, to which new epochs are sealed, where it is proven. */
  sealing(organizationId: OrganizationId): Effect.Effect<SealingKey | null, PublicKeyUnproven>
  /**
   * The key pairs that a password may open: the current one first, then those that were replaced, the newest first and at
   * most 3. Empty before there is an archive password.
   */
  wrapped(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<WrappedKey>>
  wrap(key: Pick<ArchiveKey, "organizationId" | "keyId">, kind: WrapKind): Effect.Effect<StoredWrap | null>
  /** True if the organization had a key pair of this id that is no longer in use. */
  isRetired(key: Pick<ArchiveKey, "organizationId" | "keyId">): Effect.Effect<boolean>
  /** The current key pair, locked with its organization: keys of one organization change one after the other. */
  lock(organizationId: OrganizationId): Effect.Effect<ArchiveKey | null>
  /** Keeps a key pair; the one before opens what is sealed to it alone, by its own password. */
  add(key: NewArchiveKey, now: Date): Effect.Effect<void>
  /** Forgets every wrap, and retires the key pair in use: none of them can be opened any more. */
  dropAll(organizationId: OrganizationId, now: Date): Effect.Effect<void>
  /** Replaces the wrap of its kind; a password wrap is made by whom can open the key, and proves its public key again. */
  rewrap(key: Pick<ArchiveKey, "organizationId" | "keyId" | "publicKey">, wrap: WrapRow, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveKeys") {}
