/** The call of the archive password's page to its worker, and its answer; neither is sent anywhere. */
import type { WrapKind } from "../../domain/archive/Epoch.ts"
import type { Argon2Cost } from "../../domain/archive/KeyDerivation.ts"
import type { wrapJson } from "../../domain/archive/OwnKey.ts"

/** The key that is to get another password, as the service has it. */
export interface KnownKey {
  readonly keyId: string
  readonly wrapId: string
  /** In base64. */
  readonly publicKey: string
  readonly kind: WrapKind
  /** The message where the secret opens nothing. */
  readonly wrong: string
  readonly wrap: ReturnType<typeof wrapJson>
  /** A text of the service, sealed to the key. */
  readonly token: string
}

/** The organization and its key, as the page has them. */
export interface KeyFacts {
  readonly organizationId: string
  readonly email: string
  /** The cost of new derivations in the service, which takes no other. */
  readonly cost: Argon2Cost
  /** Null where a new key is made. */
  readonly known: KnownKey | null
}

export interface KeyAsk extends KeyFacts {
  /** The password or the recovery code of the known key. */
  readonly secret: string
  readonly password: string
}

/** A key that opens by the new password, and by the code. */
export interface ReadyKey {
  /** The JSON that is sent. */
  readonly key: string
  /** The text that was sealed to the known key; empty where there is none. */
  readonly opened: string
  readonly recoveryCode: string
}

export interface KeyFault {
  /** The id of the field that it is about; empty for none. */
  readonly field: string
  readonly message: string
  /** True if this browser may never make a key, such as one with too little memory: the service can. */
  readonly byService?: boolean
}

export type KeyAnswer = { readonly ready: ReadyKey } | { readonly fault: KeyFault }
