/** The links by which an admin replaces a forgotten password. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { OpenReset } from "./ForgottenPasswords.ts"

/** A new link: the only time that its token can be seen. */
export interface ResetLink {
  readonly token: Redacted.Redacted
  readonly expiresAt: Date
}

/** The origin of a link. */
export interface ResetOrigin {
  readonly mailed: boolean
  /** True if the request came from a browser that the admin has signed in with. */
  readonly knownBrowser: boolean
}

/** The links that were mailed. */
export interface MailedResets {
  /** True if one that works was mailed since. */
  readonly lately: boolean
  /** The numbers of those that strangers asked for within a day: for the admin, and for the organization. */
  readonly of_admin: number
  readonly of_all: number
}

/** Links that work once and end with the admin's next password; all but `find` within the organization's transaction. */
export class PasswordResets extends Context.Service<PasswordResets, {
  /** Makes a link of an admin who has joined. */
  make(admin: AdminRef, origin: ResetOrigin, now: Date): Effect.Effect<ResetLink>
  /** The link of a token, of one organization or of any; a malformed token costs no statement. */
  find(
    token: Redacted.Redacted,
    organizationId: OrganizationId | null
  ): Effect.Effect<OpenReset | null, ServiceUnavailable>
  /** Locks the admin; false where they may not sign in by a password. */
  lockAdmin(admin: AdminRef): Effect.Effect<boolean>
  /** True if the link of a token is the admin's and works. */
  isOpen(admin: AdminRef, token: Redacted.Redacted, now: Date): Effect.Effect<boolean>
  countMailed(admin: AdminRef, since: Date, now: Date): Effect.Effect<MailedResets>
}>()("org-security-console/ports/signin/PasswordResets") {}
