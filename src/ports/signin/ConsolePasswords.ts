/** The console password of an admin, required at sign-in and before a credential may write. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type { PasswordIncorrect, ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { Caller, CredentialKind, OrganizationId, Via } from "../../domain/people/Access.ts"

/** An admin by organization and id. */
export interface AdminRef {
  readonly organizationId: OrganizationId
  readonly adminId: string
}

/** The origin of an attempt: it decides what is counted, and is written in the journal. */
export interface Attempt {
  readonly via: Via
  readonly ip: string | null
  readonly requestId: string | null
  /** The secret by which a browser is known that the admin has signed in with. */
  readonly browser?: Redacted.Redacted | null
  /** The live credential that the password is asked for again. */
  readonly credential?: { readonly kind: CredentialKind; readonly id: string }
}

/** The new password is not acceptable; the message gives the reason. */
export class PasswordUnfit extends Schema.TaggedError<PasswordUnfit>()("PasswordUnfit", { message: Schema.String }) {}

/** A change of the caller's own password. */
export interface PasswordChange {
  readonly current: Redacted.Redacted
  readonly next: Redacted.Redacted
  /** True if the admin's applications are disconnected. */
  readonly disconnect: boolean
  /** The secret of the browser that stays known. */
  readonly browser: Redacted.Redacted | null
}

/** The credentials that a new password has ended. */
export interface EndedCredentials {
  readonly api_keys: number
  readonly connections: number
  readonly sessions: number
}

type Refused = PasswordIncorrect | TooManyAttempts | ServiceUnavailable

/**
 * Verifies console passwords, slowly and not too often.
 *
 * Every attempt is counted before it is checked: for a browser that the admin has signed in with, for a key or
 * connection that is asked again, for the admin's console sessions that are, and otherwise for the address, for the
 * admin at that address, and for the admin at all addresses where the admin has not signed in. So many failures are
 * free (Limits.ts), each further one doubles the wait up to 15 minutes. The right password takes its own count back,
 * and resets the admin's own counters. Neither attempts nor changes run inside a transaction, which would take the
 * count back.
 */
export class ConsolePasswords extends Context.Service<ConsolePasswords, {
  verify(admin: AdminRef, password: Redacted.Redacted, attempt: Attempt): Effect.Effect<void, Refused>
  /**
   * Gives the caller's admin a new password: keys made before are revoked, every console session but the caller's ends,
   * and the caller's needs a new secret to go on.
   */
  change(caller: Caller["Service"], change: PasswordChange): Effect.Effect<void, Refused | PasswordUnfit>
  /** The hash of a password that is fit to be the one of an address: slow, and so not within a transaction. */
  hash(
    owner: { readonly organizationId: OrganizationId; readonly email: string },
    password: Redacted.Redacted
  ): Effect.Effect<Redacted.Redacted, PasswordUnfit>
  /**
   * Gives the admin the password of a hash, within the organization's transaction: it ends every credential before it.
   */
  set(admin: AdminRef, hash: Redacted.Redacted, now: Date): Effect.Effect<EndedCredentials>
  /** The admin of that organization and address; an unknown one fails like a wrong password, and as slowly. */
  identify(
    organization: string,
    email: string,
    password: Redacted.Redacted,
    attempt: Attempt
  ): Effect.Effect<AdminRef, Refused>
}>()("org-security-console/ports/signin/ConsolePasswords") {}
