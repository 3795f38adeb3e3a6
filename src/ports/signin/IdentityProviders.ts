/** The identity providers of organizations, and whom they know as which admin. */
import { Context, type Effect, type Redacted } from "effect"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { IdentityLink, IdentityProviderFacts } from "../../domain/signin/IdentityProvider.ts"
import type { AdminRef } from "./ConsolePasswords.ts"

/** A person at a provider. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** The console sessions that end with a change: of those who may have come by the provider, or by a password. */
export type EndedSessions = "linked" | "not_owner"

/** Each function works within the organization's transaction. */
export class IdentityProviders extends Context.Service<IdentityProviders, {
  find(organizationId: OrganizationId): Effect.Effect<IdentityProviderFacts | null>
  /** The provider, held for the rest of the transaction, as the organization is. */
  lock(organizationId: OrganizationId): Effect.Effect<IdentityProviderFacts | null>
  /** Sets the provider under a new version; without a secret it keeps the one that it has. */
  put(
    organizationId: OrganizationId,
    provider: Omit<IdentityProviderFacts, "version">,
    secret: Redacted.Redacted | null,
    now: Date
  ): Effect.Effect<void>
  /** Removes the provider and every link; returns the number of links. */
  remove(organizationId: OrganizationId): Effect.Effect<number>
  /** Removes the links to all issuers but one; returns their number. */
  keepLinks(organizationId: OrganizationId, issuer: string): Effect.Effect<number>
  /** The links of admins that are there, by email. */
  links(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<IdentityLink>>
  /** The link of one admin. */
  linkOf(admin: AdminRef): Effect.Effect<IdentityLink | null>
  /** Links the admin, who has no link; false where the identity is another admin's. */
  link(admin: AdminRef, identity: Identity, now: Date): Effect.Effect<boolean>
  unlink(admin: AdminRef): Effect.Effect<void>
  /** The number of admins besides the owner who could not sign in if they had to come by the provider. */
  unlinked(organizationId: OrganizationId): Effect.Effect<number>
  /** Ends console sessions; returns their number. */
  endSessions(organizationId: OrganizationId, whose: EndedSessions): Effect.Effect<number>
  /** Ends an admin's console sessions except the given one, and sign-ins that wait for the second factor. */
  endSessionsOf(admin: AdminRef, kept: string | null): Effect.Effect<number>
}>()("org-security-console/ports/signin/IdentityProviders") {}
