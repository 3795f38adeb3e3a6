/** The joining of an invited admin: by setting a password through the mailed link. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { Role } from "../../domain/people/Access.ts"
import type { AdminRef, Attempt, PasswordUnfit } from "./ConsolePasswords.ts"
import type { CookieSite } from "./ConsoleSessions.ts"

/** An invitation that can be accepted now. */
export interface OpenInvitation extends AdminRef {
  readonly organizationName: string
  readonly email: string
  readonly role: Role
}

/**
 * Checks invitations and accepts them, each once.
 *
 * A token that is unknown, used, replaced or over answers null, whichever it is, and is counted for the address: past
 * the free ones each costs a wait.
 */
export class Invitations extends Context.Service<Invitations, {
  look(
    token: Redacted.Redacted,
    site: CookieSite,
    attempt: Attempt
  ): Effect.Effect<OpenInvitation | null, TooManyAttempts | ServiceUnavailable>
  /** Sets the password, and journals that the admin has joined. */
  accept(
    token: Redacted.Redacted,
    password: Redacted.Redacted,
    site: CookieSite,
    attempt: Attempt
  ): Effect.Effect<OpenInvitation | null, PasswordUnfit | TooManyAttempts | ServiceUnavailable>
}>()("org-security-console/ports/signin/Invitations") {}
