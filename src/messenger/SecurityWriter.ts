/** The calls that secure an account on the messenger, as operations see them. */
import { Effect, type Redacted } from "effect"
import {
  CodeInvalid,
  EmailRefused,
  MessengerRefused,
  NoPendingChange,
  PasskeyNotEligible,
  PasskeyUnsupported,
  PasswordInvalid,
  TwoFaPasswordRequired
} from "../domain/Failure.ts"
import type { SessionRef } from "../domain/messenger/Messenger.ts"
import type { Paired, PairingRefused, PasswordNeeded } from "../ports/messenger/MessengerLogin.ts"
import type * as Verbs from "../ports/messenger/MessengerSecurity.ts"
import type {
  LiveSession,
  MessengerFailure,
  PasswordInvalid as WrongPassword,
  TwoFaChange
} from "../ports/messenger/MessengerSession.ts"
import { common, inTime, type LiveFailure } from "./BoundedCalls.ts"
import type { OlderSession } from "./OlderSession.ts"

type Call<A, E = never> = Effect.Effect<A, LiveFailure | E>

export interface SecurityWriter {
  checkPassword(candidate: Redacted.Redacted): Call<boolean>
  setPassword(change: TwoFaChange): Call<void, PasswordInvalid>
  removePassword(current: Redacted.Redacted): Call<void, PasswordInvalid>
  setRecoveryEmail(change: Verbs.RecoveryEmailChange): Call<Verbs.EmailPending, EmailRefused | PasswordInvalid>
  confirmRecoveryEmail(code: Redacted.Redacted): Call<void, CodeInvalid | NoPendingChange>
  readonly cancelRecoveryEmail: Call<void>
  removeRecoveryEmail(current: Redacted.Redacted): Call<void, PasswordInvalid>
  startLoginEmail(email: string): Call<Verbs.EmailPending, EmailRefused>
  confirmLoginEmail(code: Redacted.Redacted): Call<void, CodeInvalid | NoPendingChange>
  addPasskey(prepared: Verbs.PreparedPasskey): Call<{ readonly id: string }, PasskeyNotEligible | PasskeyUnsupported>
  removePasskey(id: string): Call<void>
  /** Ends this session itself. */
  readonly logOut: Call<void>
  pair(ref: SessionRef, password: Redacted.Redacted | null): Call<Paired, PasswordInvalid | TwoFaPasswordRequired>
}

const wrongPassword = (
  failure: MessengerFailure | WrongPassword
): Effect.Effect<never, LiveFailure | PasswordInvalid> =>
  failure._tag === "PasswordInvalid" ? Effect.fail(new PasswordInvalid({})) : common(failure)

const addressRefused = (
  failure: MessengerFailure | Verbs.EmailRefused
): Effect.Effect<never, LiveFailure | EmailRefused> => {
  if (failure._tag !== "EmailRefused") return common(failure)
  return Effect.fail(
    new EmailRefused({
      param: "email",
      ...(failure.reason === "not_set_up"
        ? { message: "The account has no login address that could be replaced." }
        : {})
    })
  )
}

const codeRefused = (
  failure: MessengerFailure | Verbs.EmailRefused
): Effect.Effect<never, LiveFailure | CodeInvalid | NoPendingChange> => {
  if (failure._tag !== "EmailRefused") return common(failure)
  return failure.reason === "code_invalid"
    ? Effect.fail(new CodeInvalid({ param: "code" }))
    : Effect.fail(new NoPendingChange({}))
}

const passkeyRefused = (
  failure: MessengerFailure | Verbs.PasskeyRefused
): Effect.Effect<never, LiveFailure | PasskeyNotEligible | PasskeyUnsupported> => {
  if (failure._tag !== "PasskeyRefused") return common(failure)
  switch (failure.reason) {
    case "too_soon":
      return Effect.fail(new PasskeyNotEligible({}))
    case "client_not_allowed":
    case "not_available":
      return Effect.fail(new PasskeyUnsupported({}))
    case "limit":
    case "invalid":
      return Effect.fail(new MessengerRefused({}))
  }
}

const pairingRefused = (
  failure: MessengerFailure | PairingRefused | PasswordNeeded | WrongPassword
): Effect.Effect<never, LiveFailure | PasswordInvalid | TwoFaPasswordRequired> => {
  switch (failure._tag) {
    case "PairingRefused":
      return Effect.fail(new MessengerRefused({}))
    case "PasswordNeeded":
      return Effect.fail(new TwoFaPasswordRequired({}))
    case "PasswordInvalid":
      return Effect.fail(new PasswordInvalid({}))
    case "NoSession":
    case "PlatformBusy":
    case "PlatformRefused":
    case "PlatformUnavailable":
      return common(failure)
  }
}

/** Adds the passkey through the session, or through the older session where this one is too young. */
const adding = (session: LiveSession, older: OlderSession | undefined, prepared: Verbs.PreparedPasskey) =>
  Effect.catchIf(
    session.addPasskey(prepared),
    (failure) => failure._tag === "PasskeyRefused" && failure.reason === "too_soon" && older !== undefined,
    (failure) =>
      Effect.flatMap(
        older?.session ?? Effect.succeed(null),
        (older) => older === null ? Effect.fail(failure) : older.addPasskey(prepared)
      )
  )

export const securityWriter = (session: LiveSession, older: OlderSession | undefined): SecurityWriter => ({
  checkPassword: (candidate) => inTime(Effect.catch(session.checkPassword(candidate), common)),
  setPassword: (change) => inTime(Effect.catch(session.setPassword(change), wrongPassword)),
  removePassword: (current) => inTime(Effect.catch(session.removePassword(current), wrongPassword)),
  setRecoveryEmail: (change) =>
    inTime(Effect.catch(
      session.setRecoveryEmail(change),
      (failure): Effect.Effect<never, LiveFailure | EmailRefused | PasswordInvalid> =>
        failure._tag === "EmailRefused" ? addressRefused(failure) : wrongPassword(failure)
    )),
  confirmRecoveryEmail: (code) => inTime(Effect.catch(session.confirmRecoveryEmail(code), codeRefused)),
  cancelRecoveryEmail: inTime(Effect.catch(session.cancelRecoveryEmail, common)),
  removeRecoveryEmail: (current) => inTime(Effect.catch(session.removeRecoveryEmail(current), wrongPassword)),
  startLoginEmail: (email) => inTime(Effect.catch(session.startLoginEmail(email), addressRefused)),
  confirmLoginEmail: (code) => inTime(Effect.catch(session.confirmLoginEmail(code), codeRefused)),
  addPasskey: (prepared) => inTime(Effect.catch(adding(session, older, prepared), passkeyRefused)),
  removePasskey: (id) => inTime(Effect.catch(session.removePasskey(id), common)),
  logOut: inTime(Effect.catch(session.logOut, common)),
  pair: (ref, password) => inTime(Effect.catch(session.pair(ref, password), pairingRefused))
})
