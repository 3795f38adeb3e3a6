/** The service's sign-in to an account: the part of MessengerSession that makes new sessions. */
import { type Effect, type Redacted, Schema } from "effect"
import type { AuthorizationId, MessengerUserId, SessionRef } from "../../domain/messenger/Messenger.ts"
import type { PasswordInvalid, PlatformBusy, PlatformRefused, PlatformUnavailable } from "./PlatformFailures.ts"

/** The way that the platform sends a code. */
export const CodeChannel = Schema.Literals(["app", "sms", "call", "email", "other"])
export type CodeChannel = typeof CodeChannel.Type

/** The state that an implementation needs at the next step of a login: opaque, kept and sealed by the caller. */
export type SealedLoginState = Redacted.Redacted

/** The platform sent a code. */
export interface CodeSent {
  readonly state: SealedLoginState
  readonly channel: CodeChannel
  /** The number of characters of the code, if the platform reports it. */
  readonly codeLength: number | null
  /** The time when the platform sends another one; null where it gives no time. */
  readonly resendAt: Date | null
}

/** The service is signed in under the reference that the login was begun with. */
export interface Connected {
  readonly _tag: "Connected"
  readonly userId: MessengerUserId
  /** The time when the session was created, as the platform reports it. */
  readonly createdAt: Date
}

/** The code was right, and the account has a 2FA password. */
export interface PasswordStep {
  readonly _tag: "PasswordStep"
  /** Written by the holder. */
  readonly hint: string | null
  readonly state: SealedLoginState
}

/** The platform has ended this login, except with `code_invalid`. */
export class LoginRefused extends Schema.TaggedError<LoginRefused>()("LoginRefused", {
  reason: Schema.Literals([
    "phone_invalid",
    "phone_banned",
    "phone_not_registered",
    "code_invalid",
    "code_expired",
    "attempts_exhausted",
    "payment_required",
    "app_update_required",
    "email_setup_required"
  ])
}) {}

/** The account has a 2FA password, and none was given. */
export class PasswordNeeded extends Schema.TaggedError<PasswordNeeded>()("PasswordNeeded", {}) {}

/** The platform refused to sign another session of the service in. */
export class PairingRefused extends Schema.TaggedError<PairingRefused>()("PairingRefused", {}) {}

/** Another session of the service in the account. */
export interface Paired {
  /** The id under which the session that paired it sees it. */
  readonly seenAs: AuthorizationId
  readonly createdAt: Date
}

/** The failures of every call of a login: there is no session yet. */
export type LoginCommon = PlatformBusy | PlatformUnavailable | PlatformRefused

/**
 * Signing in with a phone number, step by step, in one process or in several.
 *
 * After a call with an unknown outcome the previous state is still valid: `resolve` finds out whether the call
 * signed in.
 */
export interface LoginVerbs {
  /** Has a code sent to the number, in E.164. The caller makes the reference, so that it is known beforehand. */
  begin(sessionRef: SessionRef, phone: string): Effect.Effect<CodeSent, LoginCommon | LoginRefused>
  /** Has another code sent, by the platform's next channel. */
  resend(state: SealedLoginState): Effect.Effect<CodeSent, LoginCommon | LoginRefused>
  submitCode(
    state: SealedLoginState,
    code: Redacted.Redacted
  ): Effect.Effect<Connected | PasswordStep, LoginCommon | LoginRefused>
  submitPassword(
    state: SealedLoginState,
    password: Redacted.Redacted
  ): Effect.Effect<Connected, LoginCommon | LoginRefused | PasswordInvalid>
  /** Ends the login and whatever came of it: a session that it signed in is logged out. Repeating it succeeds. */
  cancel(state: SealedLoginState): Effect.Effect<void, LoginCommon>
  /** The account that the login has signed in to; null where it has not. */
  resolve(state: SealedLoginState): Effect.Effect<Connected | null, LoginCommon>
}
