/** Asking an identity provider, and the records of sign-ins by it. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { IdentityProviderFacts } from "../../domain/signin/IdentityProvider.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { Identity } from "./IdentityProviders.ts"
import type { ProviderAway, ProviderRefused } from "./ProviderSignIn.ts"

/** A provider with the secret that the console has there. */
export interface ProviderWithSecret extends IdentityProviderFacts {
  readonly secret: Redacted.Redacted
}

/** The secrets of a sign-in until it returns. */
export interface ProviderSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The person, as the provider describes them. */
export interface ProviderUser {
  readonly subject: string
  /** True if the provider says that more than one factor was given. */
  readonly multiFactor: boolean
}

export class ProviderClient extends Context.Service<ProviderClient, {
  /** The address that a person is sent to, to sign in there. */
  address(
    provider: ProviderWithSecret,
    redirectUri: string,
    secrets: ProviderSecrets,
    hint: string | null
  ): Effect.Effect<string, ProviderAway>
  /** The person who came back to the address; `since` is when they left for the provider, in milliseconds. */
  person(
    provider: ProviderWithSecret,
    address: URL,
    begun: ProviderSecrets & { readonly since: number }
  ): Effect.Effect<ProviderUser, ProviderAway | ProviderRefused>
}>()("org-security-console/ports/signin/ProviderClient") {}

/** Each function but `isOffered` works within the organization's transaction. */
export class ProviderSignInRecords extends Context.Service<ProviderSignInRecords, {
  /** True if the organization has a provider, or any for null. */
  isOffered(organizationId: OrganizationId | null): Effect.Effect<boolean, ServiceUnavailable>
  find(organizationId: OrganizationId): Effect.Effect<ProviderWithSecret | null>
  /** Uses a sign-in up; false where it was used, or the provider is of another version now. */
  use(organizationId: OrganizationId, version: string, digest: string, now: Date): Effect.Effect<boolean>
  /** The active admin who is linked to an identity, kept from being disabled meanwhile. */
  findLinked(organizationId: OrganizationId, identity: Identity): Effect.Effect<AdminRef | null>
  /** Serialises changes of the admin's link. */
  lockAdmin(admin: AdminRef): Effect.Effect<void>
}>()("org-security-console/ports/signin/ProviderClient/ProviderSignInRecords") {}
