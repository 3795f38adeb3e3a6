/** The secrets of accounts that the service holds: managed 2FA passwords and passkeys, sealed at rest. */
import { Context, type Effect, type Redacted } from "effect"
import type { AccountId, MessengerNames } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { Candidates, SecretKind, SecretSlot, SlotChange } from "../../domain/security/Secrets.ts"

/** The account whose secrets are meant. */
export interface SecretsOf {
  readonly organizationId: OrganizationId
  readonly accountId: AccountId
}

export interface NewSecret {
  readonly kind: SecretKind
  readonly secret: Redacted.Redacted
  /** The messenger's id of a passkey. */
  readonly passkeyId?: string
}

/** An account whose 2FA password is held; the password itself is `candidates`'. */
export interface HeldPassword extends MessengerNames {
  readonly account_id: AccountId
  readonly phone_number: string
  readonly offboarded_at: Date | null
  readonly locked_at: Date | null
  readonly made_at: Date
  readonly revealed_at: Date | null
  readonly erase_at: Date | null
}

/** A secret that can be stored. */
export interface SealedSecret extends Omit<NewSecret, "secret"> {
  readonly id: string
  readonly sealed: string
}

/**
 * The secrets of accounts; each is sealed under a key of its account, which is sealed by `KeyEncryption`.
 *
 * `candidates` and `seal` run transactions of their own, the others within the caller's.
 */
export class Secrets extends Context.Service<Secrets, {
  /** The secrets that the service holds, opened; one that cannot be opened is a defect. */
  candidates(of: SecretsOf): Effect.Effect<Candidates, ServiceUnavailable>
  /** A new strong password. */
  readonly newPassword: Effect.Effect<Redacted.Redacted>
  /** Seals a secret for its account, whose key is made where it has none. */
  seal(of: SecretsOf, secret: NewSecret): Effect.Effect<SealedSecret, ServiceUnavailable>
  /** Stores it; whatever stood at its place may still be what the messenger takes, and is kept as retired. */
  put(of: SecretsOf, secret: SealedSecret, slot: Exclude<SecretSlot, "retired">, now: Date): Effect.Effect<void>
  /** Moves secrets; one that is replaced is retired. One that is retired is forgotten after a week. */
  move(of: SecretsOf, changes: ReadonlyArray<SlotChange>, now: Date): Effect.Effect<void>
  /** Retires what is held, while it is unknown whether the messenger still accepts it. */
  suspend(of: SecretsOf, kind: SecretKind): Effect.Effect<void>
  /** The accounts whose 2FA password is held, those first that are offboarded, and by their names. */
  list(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<HeldPassword>>
  /**
   * Notes that the 2FA password is shown, or answers false where it is not held any more; that of an account that is
   * offboarded is forgotten a week after that.
   */
  shown(of: SecretsOf, id: string, now: Date): Effect.Effect<boolean>
  /** True if a secret is held that ends, because its account was offboarded, and that has not been revealed since. */
  isUnseen(of: SecretsOf, kind: SecretKind): Effect.Effect<boolean>
  /** Lets what has no end yet of an account that is offboarded end then. */
  keepUntil(of: SecretsOf, kind: SecretKind, at: Date): Effect.Effect<void>
  /** The account is left: the secrets that are likely set stay held, and all that has no end yet ends then. */
  leave(of: SecretsOf, until: { readonly passwords: Date; readonly passkeys: Date }): Effect.Effect<void>
  /** Forgets all of a kind immediately. */
  eraseAll(of: SecretsOf, kind: SecretKind): Effect.Effect<void>
  /** Forgets secrets immediately. */
  erase(of: SecretsOf, ids: ReadonlyArray<string>): Effect.Effect<void>
}>()("org-security-console/ports/security/Secrets") {}
