/** The messenger as operations see it: its refusals are the service's own failures. */
import { Effect, type Scope } from "effect"
import type { Slot } from "../domain/accounts/Slot.ts"
import {
  BioTooLong,
  NoSession,
  ParameterInvalid,
  UsernameInvalid,
  UsernamePurchasable,
  UsernameTaken
} from "../domain/Failure.ts"
import {
  type AccountSecurity,
  AuthorizationId,
  type HeldSecrets,
  type Profile,
  type ProfilePatch,
  type SessionRef
} from "../domain/messenger/Messenger.ts"
import {
  type LiveSession,
  type MessengerFailure,
  MessengerSession,
  type ProfileRefused,
  type SignOutLocked,
  type UnknownAuthorization,
  type UsernameRefused
} from "../ports/messenger/MessengerSession.ts"
import { common, inTime, type LiveFailure } from "./BoundedCalls.ts"
import type { OlderSession } from "./OlderSession.ts"
import { type SecurityWriter, securityWriter } from "./SecurityWriter.ts"

export { type LiveFailure, liveFailures } from "./BoundedCalls.ts"

export interface AccountReader {
  readonly profile: Effect.Effect<Profile, LiveFailure>
  security(held: HeldSecrets): Effect.Effect<AccountSecurity, LiveFailure>
  /** True if another session of the service may do what the messenger does not let this one do yet. */
  readonly hasOlderSession: Effect.Effect<boolean>
}

/** The outcome of signing a session out: `unknown` where the messenger lists none of that id. */
export type SignOut =
  | { readonly kind: "done" | "unknown" }
  /** The messenger does not allow it yet; the time is null where the messenger does not give one. */
  | { readonly kind: "locked"; readonly until: Date | null }

/** The calls that change something on the messenger; only a journaled change gets them. */
export interface LiveWriter extends SecurityWriter {
  updateProfile(patch: ProfilePatch): Effect.Effect<Profile, LiveFailure | BioTooLong | ParameterInvalid>
  setUsername(
    username: string | null
  ): Effect.Effect<Profile, LiveFailure | UsernameTaken | UsernameInvalid | UsernamePurchasable>
  signOut(id: string): Effect.Effect<SignOut, LiveFailure>
}

const profileRefusal = (
  failure: MessengerFailure | ProfileRefused
): Effect.Effect<never, LiveFailure | BioTooLong | ParameterInvalid> =>
  failure._tag !== "ProfileRefused"
    ? common(failure)
    : failure.reason === "about_too_long"
    ? Effect.fail(new BioTooLong({ param: "about" }))
    : Effect.fail(new ParameterInvalid({ param: failure.field, message: "The messenger refuses this name." }))

const usernameRefusal = (
  failure: MessengerFailure | UsernameRefused
): Effect.Effect<never, LiveFailure | UsernameTaken | UsernameInvalid | UsernamePurchasable> => {
  if (failure._tag !== "UsernameRefused") return common(failure)
  switch (failure.reason) {
    case "taken":
      return Effect.fail(new UsernameTaken({ param: "username" }))
    case "malformed":
      return Effect.fail(new UsernameInvalid({ param: "username" }))
    case "purchasable":
      return Effect.fail(new UsernamePurchasable({ param: "username" }))
  }
}

const notSignedOut = (
  failure: MessengerFailure | SignOutLocked | UnknownAuthorization
): Effect.Effect<SignOut, LiveFailure> => {
  switch (failure._tag) {
    case "UnknownAuthorization":
      return Effect.succeed({ kind: "unknown" })
    case "SignOutLocked":
      return Effect.succeed({ kind: "locked", until: failure.until })
    case "NoSession":
    case "PlatformBusy":
    case "PlatformRefused":
    case "PlatformUnavailable":
      return common(failure)
  }
}

const signingOut = (call: ReturnType<LiveSession["signOut"]>): Effect.Effect<SignOut, LiveFailure> =>
  inTime(Effect.catch(Effect.as(call, { kind: "done" } satisfies SignOut), notSignedOut))

const live = (session: LiveSession, older: OlderSession | undefined): AccountReader & LiveWriter => ({
  profile: inTime(Effect.catch(session.profile, common)),
  security: (held) => inTime(Effect.catch(session.security(held), common)),
  updateProfile: (patch) => inTime(Effect.catch(session.updateProfile(patch), profileRefusal)),
  setUsername: (username) => inTime(Effect.catch(session.setUsername(username), usernameRefusal)),
  hasOlderSession: older === undefined ? Effect.succeed(false) : Effect.map(older.session, (found) => found !== null),
  ...securityWriter(session, older),
  signOut: (id) =>
    Effect.gen(function*() {
      const first = yield* signingOut(session.signOut(AuthorizationId.make(id)))
      const again = first.kind === "locked" && older !== undefined ? yield* older.signOut(session, id) : null
      return again === null ? first : yield* signingOut(again)
    })
})

/** A session that cannot be reached: every call fails alike. */
export const failing = (failure: LiveFailure): AccountReader & LiveWriter => {
  const fails = Effect.fail(failure)
  const call = () => fails
  return {
    profile: fails,
    security: call,
    hasOlderSession: Effect.succeed(false),
    updateProfile: call,
    setUsername: call,
    signOut: call,
    checkPassword: call,
    setPassword: call,
    removePassword: call,
    setRecoveryEmail: call,
    confirmRecoveryEmail: call,
    cancelRecoveryEmail: fails,
    removeRecoveryEmail: call,
    startLoginEmail: call,
    confirmLoginEmail: call,
    addPasskey: call,
    removePasskey: call,
    logOut: fails,
    pair: call
  }
}

/**
 * Opens the account's live session for as long as the scope lasts. A sign-out, or a passkey, that the platform does not
 * let it do yet is tried through the account's older session.
 */
export const open = (
  sessionRef: SessionRef | null,
  slot: Slot | undefined,
  older?: OlderSession
): Effect.Effect<AccountReader & LiveWriter, LiveFailure, MessengerSession | Scope.Scope> =>
  sessionRef === null
    ? Effect.fail(new NoSession({}))
    : Effect.flatMap(
      MessengerSession,
      (messenger) =>
        inTime(Effect.map(Effect.catch(messenger.open(sessionRef, slot), common), (session) => live(session, older)))
    )
