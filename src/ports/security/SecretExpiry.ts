/** The ends of accounts' secrets, and of requests that belong to them. */
import { Context, type Effect } from "effect"
import type { accountName } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The account of a password that nobody has revealed, and the end of the password. */
export type UnrevealedPassword = Parameters<typeof accountName>[0] & { readonly id: string; readonly erase_at: Date }

export interface ErasedSecret {
  readonly account_id: string
  readonly slot: string
  readonly kind: string
}

/** Within the organization's transaction unless stated otherwise. */
export class SecretExpiry extends Context.Service<SecretExpiry, {
  /** The organizations with something that has ended, or an unrevealed password that ends until `soon`. */
  concerned(now: Date, soon: Date): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** Deletes the new login addresses that were not confirmed in time. */
  eraseAddresses(organizationId: OrganizationId, now: Date): Effect.Effect<void>
  /** Marks the unrevealed passwords that end until `soon` as reported, once. */
  reportEnding(
    organizationId: OrganizationId,
    now: Date,
    soon: Date
  ): Effect.Effect<ReadonlyArray<UnrevealedPassword>>
  erase(organizationId: OrganizationId, now: Date): Effect.Effect<ReadonlyArray<ErasedSecret>>
}>()("org-security-console/ports/security/SecretExpiry") {}
