/** The console password of an admin, asked for at sign-in and before a credential may write. */
import { Context, type Effect, type Redacted } from "effect"
import type { OrganizationId, Via } from "../domain/Access.ts"
import type { PasswordIncorrect, ServiceUnavailable, TooManyAttempts } from "../domain/Failure.ts"

/** An admin by organization and id. */
export interface AdminRef {
  readonly organizationId: OrganizationId
  readonly adminId: string
}

/** Where an attempt came from: the address counts, and the journal tells all of it. */
export interface Attempt {
  readonly via: Via
  readonly ip: string | null
  readonly requestId: string | null
}

type Refused = PasswordIncorrect | TooManyAttempts | ServiceUnavailable

/**
 * Verifies console passwords, slowly and not too often.
 *
 * Every attempt is counted before it is looked at, for the admin and for the address: five failures are free, each
 * further one doubles the wait up to 15 minutes, and the right password starts anew. It must not run inside a
 * transaction, which would take the count back.
 */
export class ConsolePasswords extends Context.Service<ConsolePasswords, {
  verify(admin: AdminRef, password: Redacted.Redacted, attempt: Attempt): Effect.Effect<void, Refused>
  /** The admin of that organization and address; an unknown one fails like a wrong password, and as slowly. */
  identify(
    organization: string,
    email: string,
    password: Redacted.Redacted,
    attempt: Attempt
  ): Effect.Effect<AdminRef, Refused>
}>()("org-security-console/operations/ConsolePasswords") {}
