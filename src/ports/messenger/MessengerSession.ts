/** The port through which the core uses the messaging platform. */
import { Context, type Effect, type Redacted, type Scope, type Stream } from "effect"
import type { Slot } from "../../domain/accounts/Slot.ts"
import type {
  AccountSecurity,
  Authorization,
  AuthorizationId,
  HeldSecrets,
  MessengerEvent,
  Profile,
  ProfilePatch,
  SessionRef
} from "../../domain/messenger/Messenger.ts"
import type { LoginVerbs, Paired, PairingRefused, PasswordNeeded } from "./MessengerLogin.ts"
import type { SecurityVerbs } from "./MessengerSecurity.ts"
import type {
  MessengerFailure,
  PasswordInvalid,
  PlatformUnavailable,
  ProfileRefused,
  SignOutLocked,
  UnknownAuthorization,
  UsernameRefused
} from "./PlatformFailures.ts"

export * from "./PlatformFailures.ts"

/** A new 2FA password with the one that it replaces. */
export interface TwoFaChange {
  readonly current: Redacted.Redacted | null
  readonly next: Redacted.Redacted
}

/** One account as the platform shows it to a session of the service; valid until its scope closes. */
export interface LiveSession extends SecurityVerbs {
  /** The profile as it is now. */
  readonly profile: Effect.Effect<Profile, MessengerFailure>
  /** The security settings as they are now; a part that could not be read is null. */
  security(held: HeldSecrets): Effect.Effect<AccountSecurity, MessengerFailure>
  /** Changes the profile, all of the patch or nothing, and answers the new one; what is set already succeeds. */
  updateProfile(patch: ProfilePatch): Effect.Effect<Profile, MessengerFailure | ProfileRefused>
  /**
   * Sets the username (without @), or removes it with null, and answers the new profile; what is set already succeeds.
   */
  setUsername(username: string | null): Effect.Effect<Profile, MessengerFailure | UsernameRefused>
  /** Every device that is signed in, the asking session included. */
  readonly authorizations: Effect.Effect<ReadonlyArray<Authorization>, MessengerFailure>
  /** Signs the authorization out; by the id that `authorizations` gives it. */
  signOut(id: AuthorizationId): Effect.Effect<void, MessengerFailure | SignOutLocked | UnknownAuthorization>
  /**
   * Confirms the authorization as the holder's, so that the platform no longer asks for it; succeeds if it is
   * confirmed already.
   */
  confirm(id: AuthorizationId): Effect.Effect<void, MessengerFailure | UnknownAuthorization>
  /** True if the candidate is the account's 2FA password; false where it has none. */
  checkPassword(candidate: Redacted.Redacted): Effect.Effect<boolean, MessengerFailure>
  /** Sets or replaces the 2FA password; `current` is null where the account has none. */
  setPassword(change: TwoFaChange): Effect.Effect<void, MessengerFailure | PasswordInvalid>
  /** Removes the 2FA password, and the recovery email with it; without a password it succeeds. */
  removePassword(current: Redacted.Redacted): Effect.Effect<void, MessengerFailure | PasswordInvalid>
  /**
   * Signs another session of the service in, under a reference that the caller makes; with the 2FA password where one
   * is.
   */
  pair(
    sessionRef: SessionRef,
    password: Redacted.Redacted | null
  ): Effect.Effect<Paired, MessengerFailure | PairingRefused | PasswordInvalid | PasswordNeeded>
  /**
   * The platform's pushes from the opening on, in order; the stream ends after `Lost`.
   *
   * A session keeps the latest 256 unread ones; where it dropped older ones, a `Gap` comes before them. Events are
   * hints when to poll, never the truth.
   */
  readonly events: Stream.Stream<MessengerEvent>
  /** Ends this session itself, whatever its age. */
  readonly logOut: Effect.Effect<void, MessengerFailure>
}

/**
 * The messaging platform behind the service.
 *
 * Calls have no deadline of their own: the caller bounds them with a timeout. No call happens inside a database
 * transaction.
 */
export class MessengerSession extends Context.Service<
  MessengerSession,
  LoginVerbs & {
    /**
     * Opens the session for as long as the scope lasts.
     *
     * Opening a reference that is open in this process already shares its connection: a key that is used from two
     * places at the same time dies. It is used while this process owns the slot of its account; without a slot, while
     * it owns every slot.
     */
    open(sessionRef: SessionRef, slot?: Slot): Effect.Effect<LiveSession, MessengerFailure, Scope.Scope>
    /** Deletes a session's key without notifying the platform: the session cannot be used any more. */
    forget(sessionRef: SessionRef): Effect.Effect<void, PlatformUnavailable>
  }
>()("org-security-console/ports/messenger/MessengerSession") {}
