/** Lets an admin who has forgotten the password set another one, by a mailed link. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { AdminRef, Attempt, PasswordUnfit } from "./ConsolePasswords.ts"
import type { CookieSite } from "./ConsoleSessions.ts"

/** A person who has forgotten their password, by their own account. */
export interface Forgetful {
  readonly organization: string
  readonly email: string
}

/** A link that works now. */
export interface OpenReset extends AdminRef {
  readonly organizationName: string
  readonly email: string
}

/**
 * Takes requests for links, checks links, and sets a password by one.
 *
 * A request is kept as it is, and handled by the background work alone: what answers it does and takes the same whether
 * anybody has the address. A link that is unknown, used or over answers null, whichever it is; wrong ones are counted
 * for the address together with those of invitations.
 */
export class ForgottenPasswords extends Context.Service<ForgottenPasswords, {
  /** True if links can be mailed; without mail the operator makes them. */
  readonly available: boolean
  request(
    who: Forgetful,
    site: CookieSite,
    attempt: Attempt
  ): Effect.Effect<void, TooManyAttempts | ServiceUnavailable>
  look(
    token: Redacted.Redacted,
    site: CookieSite,
    attempt: Attempt
  ): Effect.Effect<OpenReset | null, TooManyAttempts | ServiceUnavailable>
  /** Sets the password, which ends all that the one before gave and every other link; it signs nobody in. */
  set(
    token: Redacted.Redacted,
    password: Redacted.Redacted,
    site: CookieSite,
    attempt: Attempt
  ): Effect.Effect<OpenReset | null, PasswordUnfit | TooManyAttempts | ServiceUnavailable>
}>()("org-security-console/ports/signin/ForgottenPasswords") {}
