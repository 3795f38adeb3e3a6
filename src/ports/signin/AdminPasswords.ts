/** The console passwords of admins, by their hashes. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { AdminRef } from "./ConsolePasswords.ts"

/** An admin with a password; null for one who has none. */
export interface AdminPassword extends AdminRef {
  readonly hash: Redacted.Redacted | null
}

/** An admin who is asked again. */
export interface OwnPassword extends AdminPassword {
  readonly email: string
  readonly changedAt: Date | null
  /** The first key of the API key's family; null for another credential. */
  readonly family: string | null
}

/** An admin by address, who may sign in by a password. */
export interface FoundPassword extends AdminPassword {
  readonly knownBrowser: boolean
  readonly knownAddress: boolean
}

/** The origin of a sign-in: the browser's digest and the group of its address. */
export interface SignInOrigin {
  readonly browser: string | null
  readonly address: string | null
  /** Browsers that were not used since are not known. */
  readonly since: Date
}

/** Each function but `find` works within the organization's transaction. */
export class AdminPasswords extends Context.Service<AdminPasswords, {
  /** The admin of an address, by one statement outside any organization. */
  find(
    organization: string,
    email: string,
    origin: SignInOrigin
  ): Effect.Effect<FoundPassword | undefined, ServiceUnavailable>
  /** An active admin, with the family of the API key that asks. */
  own(admin: AdminRef, apiKey: string | null): Effect.Effect<OwnPassword | undefined>
  /** Replaces a hash by another one of the same password. */
  rehash(admin: AdminPassword, hash: Redacted.Redacted): Effect.Effect<void>
  /** Sets the password; an invited admin has joined by it. */
  set(admin: AdminRef, hash: Redacted.Redacted, now: Date): Effect.Effect<void>
  /** Sets the password of an active admin; false where it was set since the given time. */
  replace(admin: AdminRef, hash: Redacted.Redacted, before: Date | null, now: Date): Effect.Effect<boolean>
}>()("org-security-console/ports/signin/AdminPasswords") {}
