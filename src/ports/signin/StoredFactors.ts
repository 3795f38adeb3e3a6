/** The second factors of admins; each function works within the organization's transaction. */
import { Context, type Effect, type Redacted } from "effect"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { Party, PasskeyDescriptor, PasskeyUse, ProvedPasskey, StoredPasskey } from "./FactorProofs.ts"
import type { Passkey, RecoveryCodes } from "./SecondFactors.ts"

/** The secret of an authenticator app, and its sealed form. */
export interface AppSecret {
  readonly secret: Redacted.Redacted
  readonly sealed: string
}

export class AuthenticatorApps extends Context.Service<AuthenticatorApps, {
  /** The time when the app was added; null without one. */
  addedAt(admin: AdminRef): Effect.Effect<Date | null>
  find(admin: AdminRef): Effect.Effect<AppSecret | null>
  /** Uses the time step of a code up; false where it or a later one was used, or the app was replaced. */
  use(admin: AdminRef, app: AppSecret, step: number): Effect.Effect<boolean>
  /** Sets the app in place of the one before, with the step used up; false where that or a later one was used. */
  put(admin: AdminRef, secret: Redacted.Redacted, step: number, now: Date): Effect.Effect<boolean>
  remove(admin: AdminRef): Effect.Effect<boolean>
}>()("org-security-console/ports/signin/StoredFactors/AuthenticatorApps") {}

export class StoredPasskeys extends Context.Service<StoredPasskeys, {
  /** The passkeys, the oldest first. */
  list(admin: AdminRef): Effect.Effect<ReadonlyArray<Passkey>>
  /** The passkeys that work at a site. */
  at(admin: AdminRef, party: Party): Effect.Effect<ReadonlyArray<PasskeyDescriptor>>
  find(admin: AdminRef, credentialId: string, party: Party): Effect.Effect<StoredPasskey | null>
  /** Uses an answer up; false where it or a later one was used, or the counter does not go on. */
  use(admin: AdminRef, credentialId: string, use: PasskeyUse, now: Date): Effect.Effect<boolean>
  count(admin: AdminRef): Effect.Effect<number>
  /** False where the passkey is stored already. */
  add(admin: AdminRef, passkey: ProvedPasskey, name: string, party: Party, now: Date): Effect.Effect<boolean>
  nameOf(admin: AdminRef, id: string): Effect.Effect<string | null>
  remove(admin: AdminRef, id: string): Effect.Effect<boolean>
}>()("org-security-console/ports/signin/StoredFactors/StoredPasskeys") {}

export class StoredRecoveryCodes extends Context.Service<StoredRecoveryCodes, {
  /** The number of codes that are left. */
  left(admin: AdminRef): Effect.Effect<number>
  /** Uses a code, written without its groups, up; false where it is none that is left. */
  use(admin: AdminRef, code: string, now: Date): Effect.Effect<boolean>
  /** Replaces the codes. */
  replace(admin: AdminRef, codes: RecoveryCodes, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/signin/StoredFactors/StoredRecoveryCodes") {}
