/**
 * The messenger for the steps of a login: failures are values too, because each answer is stored.
 */
import { Effect } from "effect"
import type { Redacted } from "effect"
import { messengerTimeout } from "../domain/Limits.ts"
import type { Profile, SessionRef } from "../domain/messenger/Messenger.ts"
import type {
  CodeSent,
  Connected,
  LoginCommon,
  LoginRefused,
  PasswordStep,
  SealedLoginState
} from "../ports/messenger/MessengerLogin.ts"
import { MessengerSession, type PasswordInvalid } from "../ports/messenger/MessengerSession.ts"
import { noteUnavailable, orTimeout } from "./BoundedCalls.ts"

/** The messenger's answer to a step. */
export type LoginReply =
  | { readonly kind: "sent"; readonly sent: CodeSent }
  | { readonly kind: "connected"; readonly connected: Connected; readonly profile: Profile | null }
  | { readonly kind: "password"; readonly step: PasswordStep }
  | { readonly kind: "refused"; readonly reason: LoginRefused["reason"] }
  | { readonly kind: "wrong_password" }
  /** It did nothing, and demands a wait. */
  | { readonly kind: "busy"; readonly seconds: number }
  /** It refused for a reason that has no name here. */
  | { readonly kind: "unlisted" }
  /** It is unknown if it did anything. */
  | { readonly kind: "unknown" }

export const unknown: LoginReply = { kind: "unknown" }

const failed = (failure: LoginCommon | LoginRefused | PasswordInvalid): Effect.Effect<LoginReply> => {
  switch (failure._tag) {
    case "LoginRefused":
      return Effect.succeed({ kind: "refused", reason: failure.reason })
    case "PasswordInvalid":
      return Effect.succeed({ kind: "wrong_password" })
    case "PlatformBusy":
      return Effect.as(noteUnavailable(`a flood wait of ${failure.retryAfterSeconds} seconds`), {
        kind: "busy",
        seconds: Math.max(1, failure.retryAfterSeconds)
      })
    case "PlatformRefused":
      return Effect.as(Effect.logWarning("The messenger refused", failure.reason), { kind: "unlisted" })
    case "PlatformUnavailable":
      return Effect.as(noteUnavailable("no answer"), unknown)
  }
}

const inTime = <R>(call: Effect.Effect<LoginReply, LoginCommon | LoginRefused | PasswordInvalid, R>) =>
  orTimeout(Effect.catch(call, failed), Effect.succeed(unknown))

/** The profile that the new session shows of its account; null where it cannot be read now: the next poll reads it. */
const profileOf = (sessionRef: SessionRef) =>
  Effect.gen(function*() {
    const messenger = yield* MessengerSession
    return yield* (yield* messenger.open(sessionRef)).profile
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => null),
    Effect.timeoutOrElse({ duration: messengerTimeout, orElse: () => Effect.succeed(null) })
  )

const withProfile =
  (sessionRef: SessionRef) => (said: LoginReply): Effect.Effect<LoginReply, never, MessengerSession> =>
    said.kind !== "connected"
      ? Effect.succeed(said)
      : Effect.map(profileOf(sessionRef), (profile) => ({ ...said, profile }))

const connected = (answer: Connected | PasswordStep): LoginReply =>
  answer._tag === "Connected"
    ? { kind: "connected", connected: answer, profile: null }
    : { kind: "password", step: answer }

export const begin = (sessionRef: SessionRef, phone: string) =>
  MessengerSession.use((messenger) =>
    inTime(Effect.map(messenger.begin(sessionRef, phone), (sent): LoginReply => ({ kind: "sent", sent })))
  )

export const resend = (state: SealedLoginState) =>
  MessengerSession.use((messenger) =>
    inTime(Effect.map(messenger.resend(state), (sent): LoginReply => ({ kind: "sent", sent })))
  )

export const submitCode = (sessionRef: SessionRef, state: SealedLoginState, code: Redacted.Redacted) =>
  MessengerSession.use((messenger) =>
    Effect.flatMap(inTime(Effect.map(messenger.submitCode(state, code), connected)), withProfile(sessionRef))
  )

export const submitPassword = (sessionRef: SessionRef, state: SealedLoginState, password: Redacted.Redacted) =>
  MessengerSession.use((messenger) =>
    Effect.flatMap(inTime(Effect.map(messenger.submitPassword(state, password), connected)), withProfile(sessionRef))
  )

/**
 * The login's account if it has signed in already, because the end of a step before was lost; null where it has not.
 */
export const resolve = (sessionRef: SessionRef, state: SealedLoginState) =>
  MessengerSession.use((messenger) =>
    inTime(
      Effect.map(
        messenger.resolve(state),
        (answer): LoginReply => answer === null ? { kind: "unlisted" } : connected(answer)
      )
    ).pipe(
      Effect.flatMap(withProfile(sessionRef)),
      Effect.map((said) => said.kind === "unlisted" ? null : said)
    )
  )

/** Ends the login on the messenger; false where that is not known to have happened. */
export const cancel = (state: SealedLoginState) =>
  MessengerSession.use((messenger) =>
    messenger.cancel(state).pipe(
      Effect.as(true),
      Effect.catch((failure) =>
        Effect.as(Effect.logWarning("A login could not be ended on the messenger", failure._tag), false)
      ),
      Effect.timeoutOrElse({ duration: messengerTimeout, orElse: () => Effect.succeed(false) })
    )
  )
