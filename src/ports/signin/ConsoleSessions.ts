/** The console session behind a browser's cookie: who is signed in, and the password that a grant asks for. */
import { Context, type Effect, type Option, type Redacted } from "effect"
import type { PasswordIncorrect, ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import type { OrganizationId, Role, Via } from "../../domain/people/Access.ts"
import type { FactorKind } from "../../domain/signin/SecondFactor.ts"
import type { AdminRef } from "./ConsolePasswords.ts"

/** An admin in a browser, read afresh for every request. */
export interface SignedIn {
  /** Names the session without being its secret. */
  readonly sessionId: string
  readonly organizationId: OrganizationId
  readonly organizationName: string
  readonly organizationClosed: boolean
  readonly adminId: string
  readonly adminName: string | null
  readonly email: string
  readonly role: Role
  readonly readsArchive: boolean
}

/** The attributes of a site's cookies. */
export interface CookieSite {
  readonly baseUrl: string
  /** On an organization's own site, sessions of others are unknown. */
  readonly organizationId: OrganizationId | null
}

/** A browser's request, as far as a session keeps or journals it. */
export interface SessionVisit {
  readonly cookies: string | undefined
  readonly site: CookieSite
  readonly ip: string | null
  readonly requestId: string | null
  readonly userAgent: string | undefined
}

/** The proof by which an admin signed in. */
export interface SignInProof {
  /** The time when the first factor was given: a password that is set later ends the session. */
  readonly since: Date
  /** The second factor, given just now; null where none is asked for. */
  readonly factor: FactorKind | null
  /** Further details of it in the journal. */
  readonly details?: JournalDetails
}

/** A console session of the admin, as the admin sees it. */
export interface ListedSession {
  readonly id: string
  readonly current: boolean
  readonly createdAt: Date
  readonly lastUsedAt: Date
  /** Null for a session of an earlier version. */
  readonly address: string | null
  readonly browser: string | null
}

/** A credential that was made in the admin's name, outside the current session. */
export interface CredentialNotice {
  readonly kind: "api_key" | "application"
  readonly label: string
  readonly at: Date
  readonly via: Via
  readonly ip: string | null
  /** The key that it was made with, by its label. */
  readonly key: string | null
}

/** The newest credentials made in the admin's name, and whether there are more. */
export interface CredentialNotices {
  readonly notices: ReadonlyArray<CredentialNotice>
  readonly more: boolean
}

/** The admins who are signed in at the console, however they signed in. */
export class ConsoleSessions extends Context.Service<ConsoleSessions, {
  /**
   * The admin behind the `Cookie` header; none without a session, or when it or the admin has ended. Each request is a
   * use of the session, unless no person made it.
   */
  current(
    cookies: string | undefined,
    site: CookieSite,
    unattended?: boolean
  ): Effect.Effect<Option.Option<SignedIn>, ServiceUnavailable>
  /**
   * Begins a session of its own for the admin, ends the one that the cookies name, remembers the browser, and answers
   * what to set as cookies; the session's is the first. `SignIns` decides whether the second factor comes first:
   * without one it dies for an admin who has to give one. Where the admin, the link to the identity provider, the
   * password as a first factor, or every second factor was taken away meanwhile, it begins none.
   */
  start(
    admin: AdminRef,
    visit: SessionVisit,
    proof: SignInProof
  ): Effect.Effect<ReadonlyArray<string>, ServiceUnavailable>
  /** Ends the admin's session, and answers the `Set-Cookie` that forgets it. */
  end(admin: SignedIn, visit: SessionVisit): Effect.Effect<string, ServiceUnavailable>
  /** The secret by which the browser is known that the cookies come from; null without one. */
  browser(cookies: string | undefined, site: CookieSite): Redacted.Redacted | null
  /** The admin's sessions, the one used last first. */
  list(admin: SignedIn): Effect.Effect<ReadonlyArray<ListedSession>, ServiceUnavailable>
  /**
   * Ends one other session of the admin, or all others and the sign-ins that wait; returns the number of
   * sessions.
   */
  endOther(admin: SignedIn, id: string | "all", visit: SessionVisit): Effect.Effect<number, ServiceUnavailable>
  /** Gives the session a new secret, as after a new password, and answers what to set as cookies. */
  renew(admin: SignedIn, visit: SessionVisit): Effect.Effect<ReadonlyArray<string>, ServiceUnavailable>
  /** The credentials made in the admin's name that this browser has not shown; it has from here on. */
  notices(
    admin: SignedIn,
    cookies: string | undefined,
    site: CookieSite
  ): Effect.Effect<CredentialNotices, ServiceUnavailable>
  /** The token of a form: an HMAC over the session and the text that the form is bound to, the exact query. */
  csrf(sessionId: string, text: string): string
  /** True if the token is the form's, under any of the configured keys. */
  verifyCsrf(sessionId: string, text: string, token: string): boolean
  /** Fails unless it is the admin's console password; every failure counts for the admin's sessions. */
  verifyPassword(
    admin: SignedIn,
    password: Redacted.Redacted,
    address: string | null
  ): Effect.Effect<void, PasswordIncorrect | TooManyAttempts | ServiceUnavailable>
}>()("org-security-console/ports/signin/ConsoleSessions") {}
