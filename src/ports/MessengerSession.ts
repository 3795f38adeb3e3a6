/** The port through which the core reaches the messaging platform. */
import { Context, type Effect, type Redacted, Schema, type Scope } from "effect"
import type { AccountSecurity, Authorization, Profile, ProfilePatch, SessionRef } from "../domain/Messenger.ts"

/** The service has no live session of this account any more: its key was revoked, or never existed. */
export class NoSession extends Schema.TaggedError<NoSession>()("NoSession", {}) {}

/** The platform asks to wait (a flood wait). */
export class PlatformBusy extends Schema.TaggedError<PlatformBusy>()("PlatformBusy", {
  retryAfterSeconds: Schema.Int
}) {}

/** The platform did not answer; whether it did what was asked is unknown. */
export class PlatformUnavailable extends Schema.TaggedError<PlatformUnavailable>()("PlatformUnavailable", {}) {}

/** The platform refused for a reason that has no name here; `reason` is its own text, for the log alone. */
export class PlatformRefused extends Schema.TaggedError<PlatformRefused>()("PlatformRefused", {
  reason: Schema.String
}) {}

/** What may go wrong with every call to the platform. */
export type Common = NoSession | PlatformBusy | PlatformUnavailable | PlatformRefused

/** The platform refused the username. */
export class UsernameRefused extends Schema.TaggedError<UsernameRefused>()("UsernameRefused", {
  reason: Schema.Literals(["taken", "malformed", "purchasable"])
}) {}

/** The platform refused a field of the profile; nothing of the patch was applied. */
export class ProfileRefused extends Schema.TaggedError<ProfileRefused>()("ProfileRefused", {
  reason: Schema.Literals(["about_too_long", "name_invalid"]),
  field: Schema.Literals(["first_name", "last_name", "about"])
}) {}

/** The secrets of the account's security that the service itself holds. */
export interface HeldSecrets {
  /** The 2FA password, when the service set it. */
  readonly twoFaPassword: Redacted.Redacted<string> | null
  /** The platform's id of the passkey that the service added. */
  readonly passkeyId: string | null
}

/** One account as the platform shows it to a session of the service; valid until its scope closes. */
export interface LiveSession {
  /** The profile as it is now. */
  readonly profile: Effect.Effect<Profile, Common>
  /** The security settings as they are now; a part that could not be read is null. */
  security(held: HeldSecrets): Effect.Effect<AccountSecurity, Common>
  /** Changes the profile, all of the patch or nothing, and answers the new one; what is set already succeeds. */
  updateProfile(patch: ProfilePatch): Effect.Effect<Profile, Common | ProfileRefused>
  /** Sets the username (without @), or removes it with null, and answers the new profile; what is set already succeeds. */
  setUsername(username: string | null): Effect.Effect<Profile, Common | UsernameRefused>
  /** Every device that is signed in, the asking session included. */
  readonly authorizations: Effect.Effect<ReadonlyArray<Authorization>, Common>
}

/**
 * The messaging platform behind the service.
 *
 * Calls have no deadline of their own: the caller bounds them with a timeout. No call happens inside a database
 * transaction.
 */
export class MessengerSession extends Context.Service<MessengerSession, {
  /** Opens the session for as long as the scope lasts. */
  open(sessionRef: SessionRef): Effect.Effect<LiveSession, Common, Scope.Scope>
}>()("org-security-console/ports/MessengerSession") {}
