/** The form in which the seed of an archive key pair is kept. */
import { hex } from "./Bytes.ts"
import type { WrapKind } from "./Epoch.ts"
import type { KeyDerivation } from "./KeyDerivation.ts"

/** The seed, sealed under a secret; as `archive_wrap` stores it. */
export interface WrapRow {
  readonly kind: WrapKind
  readonly kdf: KeyDerivation
  /** 12 bytes. */
  readonly nonce: Uint8Array
  /** 48 bytes. */
  readonly sealed: Uint8Array
  /** HMAC-SHA-256 under a key of the secret: it commits the wrap to one secret. */
  readonly proof: Uint8Array
}

/** The name of a wrap: each one that is made has a nonce of its own. */
export const wrapIdOf = ({ nonce }: Pick<WrapRow, "nonce">): string => hex(nonce)
