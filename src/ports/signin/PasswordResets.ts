/** The links by which an admin replaces a forgotten password. */
import { Context, type Effect, type Redacted } from "effect"
import type { AdminRef } from "./ConsolePasswords.ts"

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

/** Makes links; each works once, and ends with the admin's next password. */
export class PasswordResets extends Context.Service<PasswordResets, {
  /** Makes a link of an admin who has joined, within the organization's transaction. */
  make(admin: AdminRef, origin: ResetOrigin, now: Date): Effect.Effect<ResetLink>
}>()("org-security-console/ports/signin/PasswordResets") {}
