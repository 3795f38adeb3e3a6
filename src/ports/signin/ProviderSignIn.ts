/** Signing in at the console by the identity provider of an organization (OpenID Connect, code flow with PKCE). */
import { Context, type Effect, type Option, Schema } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { IdentityLink } from "../../domain/signin/IdentityProvider.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { CookieSite, SessionVisit, SignedIn } from "./ConsoleSessions.ts"
import type { FirstFactor } from "./SignIns.ts"

/** The organization has no provider, or does not exist; the answer does not say which. */
export class NoProvider extends Schema.TaggedError<NoProvider>()("NoProvider", {}) {}

/** The provider does not answer, or not as one does. */
export class ProviderAway extends Schema.TaggedError<ProviderAway>()("ProviderAway", { host: Schema.String }) {}

/** The provider's response is invalid; the message is for the person. */
export class ProviderRefused
  extends Schema.TaggedError<ProviderRefused>()("ProviderRefused", { message: Schema.String })
{}

/** A person's way to the provider. */
export interface ProviderRequest {
  /** The organization, as typed or known. */
  readonly organization: string
  /** The admin to link; null to sign in. */
  readonly admin: SignedIn | null
  /** The name that the provider may fill in, as typed; nothing here depends on it. */
  readonly hint: string | null
  /** The page within the site that the sign-in leads to. */
  readonly returnTo: string
}

/** The way to go on. */
export interface ProviderRedirect {
  readonly url: string
  /** The provider's host, as shown. */
  readonly host: string
  /** The cookie that only this browser comes back with. */
  readonly cookie: string
}

/** A person who came back: to sign in with the first factor given, or to be linked, which they are. */
export type ProviderReturn =
  | { readonly kind: "sign_in"; readonly admin: AdminRef; readonly first: FirstFactor; readonly returnTo: string }
  | { readonly kind: "linked" }

/**
 * Nothing is stored before the admin is authenticated: the state of the sign-in is sealed in a
 * cookie, for 10 minutes. Coming back is counted for the address before the provider is asked, and counts once.
 */
export class ProviderSignIn extends Context.Service<ProviderSignIn, {
  /** True if the sign-in page of the site leads to a provider. */
  offered(site: CookieSite): Effect.Effect<boolean, ServiceUnavailable>
  go(
    going: ProviderRequest,
    visit: SessionVisit
  ): Effect.Effect<ProviderRedirect, NoProvider | ProviderAway | ServiceUnavailable>
  /** Takes the answer that the provider sent the browser back with, as the query of the address. */
  back(
    organization: string,
    query: string,
    visit: SessionVisit,
    signedIn: Option.Option<SignedIn>
  ): Effect.Effect<ProviderReturn, ProviderRefused | ProviderAway | TooManyAttempts | ServiceUnavailable>
  /** The cookie that makes the browser forget it. */
  forget(site: CookieSite): string
  /** The provider of the admin's organization, if it has one, and the person whom it knows as the admin. */
  state(admin: SignedIn): Effect.Effect<
    { readonly issuer: string; readonly link: IdentityLink | null } | null,
    ServiceUnavailable
  >
  /** Removes the admin's own link, and ends their other sessions and what waits for their second factor. */
  unlink(admin: SignedIn, visit: SessionVisit): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/signin/ProviderSignIn") {}
