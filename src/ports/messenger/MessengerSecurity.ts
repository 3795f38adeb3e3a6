/**
 * The security of an account on the platform: the part of LiveSession that changes its e-mail addresses and passkeys.
 */
import { type Effect, type Redacted, Schema } from "effect"
import type { MessengerFailure, PasswordInvalid } from "./PlatformFailures.ts"

/** The platform refused an address, or the code that was sent to it. */
export class EmailRefused extends Schema.TaggedError<EmailRefused>()("EmailRefused", {
  reason: Schema.Literals(["invalid", "not_allowed", "not_set_up", "code_invalid", "code_expired"])
}) {}

/** The platform refused a passkey. */
export class PasskeyRefused extends Schema.TaggedError<PasskeyRefused>()("PasskeyRefused", {
  reason: Schema.Literals(["too_soon", "client_not_allowed", "not_available", "limit", "invalid"])
}) {}

/** A code was sent to the address. */
export interface EmailPending {
  /** Masked. */
  readonly pattern: string
  /** The number of characters of the code, if the platform reports it. */
  readonly codeLength: number | null
}

/** A passkey that was made, and is not registered yet. */
export interface PreparedPasskey {
  /** The id of the credential: 32 bytes in base64url. */
  readonly id: string
  /** Its private key: ES256, PKCS #8 in base64. */
  readonly key: Redacted.Redacted
}

/** A new recovery address with the 2FA password that it needs. */
export interface RecoveryEmailChange {
  readonly current: Redacted.Redacted
  readonly email: string
}

export interface SecurityVerbs {
  /** Sends a code to an address that is to be the recovery one; the one before stays until it is confirmed. */
  setRecoveryEmail(
    change: RecoveryEmailChange
  ): Effect.Effect<EmailPending, MessengerFailure | EmailRefused | PasswordInvalid>
  /** Makes the address that waits the recovery one. */
  confirmRecoveryEmail(code: Redacted.Redacted): Effect.Effect<void, MessengerFailure | EmailRefused>
  /** Forgets the address that waits; without one it succeeds. */
  readonly cancelRecoveryEmail: Effect.Effect<void, MessengerFailure>
  /** Removes the recovery address, and one that waits; without any it succeeds. */
  removeRecoveryEmail(current: Redacted.Redacted): Effect.Effect<void, MessengerFailure | PasswordInvalid>
  /** Sends a code to an address that is to replace the one that codes for signing in are sent to. */
  startLoginEmail(email: string): Effect.Effect<EmailPending, MessengerFailure | EmailRefused>
  confirmLoginEmail(code: Redacted.Redacted): Effect.Effect<void, MessengerFailure | EmailRefused>
  /** Registers the passkey; the platform lists it under the answered id, which is that of the credential. */
  addPasskey(prepared: PreparedPasskey): Effect.Effect<{ readonly id: string }, MessengerFailure | PasskeyRefused>
  /** Removes the passkey; one that is not there any more succeeds. */
  removePasskey(id: string): Effect.Effect<void, MessengerFailure>
}
