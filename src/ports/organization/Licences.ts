/** The holders of the organization's licences and seats. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { LicencesUsed, SignUpLink } from "../../domain/organization/Billing.ts"
import type { Tier } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** Licences of accounts, and links that hold a seat; each function works within the organization's transaction. */
export class Licences extends Context.Service<Licences, {
  /** The number of accounts that hold a licence of each tier; those that are offboarded hold none. */
  used(organizationId: OrganizationId): Effect.Effect<LicencesUsed>
  setTier(organizationId: OrganizationId, accountId: AccountId, tier: Tier): Effect.Effect<void>
  /** The unused sign-up links, the newest first. */
  links(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<SignUpLink>>
  /** Deletes an unused link, and frees its seat; false if there is none. */
  revokeLink(organizationId: OrganizationId, id: string): Effect.Effect<boolean>
}>()("org-security-console/ports/organization/Licences") {}
