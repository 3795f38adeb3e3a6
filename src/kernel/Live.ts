/** The messenger as operations see it: its refusals are the service's own failures. */
import { Effect, type Scope } from "effect"
import {
  BioTooLong,
  MessengerRefused,
  MessengerUnavailable,
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
} from "../domain/Messenger.ts"
import {
  type Common,
  type LiveSession,
  MessengerSession,
  type ProfileRefused,
  type SignOutLocked,
  type UnknownAuthorization,
  type UsernameRefused
} from "../ports/MessengerSession.ts"

/** What every call to the messenger may fail with. */
export const liveFailures = [NoSession, MessengerRefused, MessengerUnavailable] as const
export type LiveFailure = InstanceType<typeof liveFailures[number]>

export interface Live {
  readonly profile: Effect.Effect<Profile, LiveFailure>
  security(held: HeldSecrets): Effect.Effect<AccountSecurity, LiveFailure>
}

/** What came of signing a session out: `unknown` where the messenger lists none of that id. */
export type SignOut =
  | { readonly kind: "done" | "unknown" }
  /** The messenger does not let the service yet; until when is null where it does not say. */
  | { readonly kind: "locked"; readonly until: Date | null }

/** What changes something on the messenger; only a journaled change gets it. */
export interface LiveWriter {
  updateProfile(patch: ProfilePatch): Effect.Effect<Profile, LiveFailure | BioTooLong | ParameterInvalid>
  setUsername(
    username: string | null
  ): Effect.Effect<Profile, LiveFailure | UsernameTaken | UsernameInvalid | UsernamePurchasable>
  signOut(id: string): Effect.Effect<SignOut, LiveFailure>
}

/** How long a request waits for one answer of the messenger. */
const answerTime = "8 seconds"

const common = (failure: Common): Effect.Effect<never, LiveFailure> => {
  switch (failure._tag) {
    case "NoSession":
      return Effect.fail(new NoSession({}))
    case "PlatformBusy":
      return Effect.fail(new MessengerUnavailable({ retry_after: Math.max(1, failure.retryAfterSeconds) }))
    case "PlatformUnavailable":
      return Effect.fail(new MessengerUnavailable({}))
    case "PlatformRefused":
      return Effect.andThen(
        Effect.logWarning("The messenger refused", failure.reason),
        Effect.fail(new MessengerRefused({}))
      )
  }
}

const profileRefusal = (
  failure: Common | ProfileRefused
): Effect.Effect<never, LiveFailure | BioTooLong | ParameterInvalid> =>
  failure._tag !== "ProfileRefused"
    ? common(failure)
    : failure.reason === "about_too_long"
    ? Effect.fail(new BioTooLong({ param: "about" }))
    : Effect.fail(new ParameterInvalid({ param: failure.field, message: "The messenger refuses this name." }))

const usernameRefusal = (
  failure: Common | UsernameRefused
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
  failure: Common | SignOutLocked | UnknownAuthorization
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

const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(effect, { duration: answerTime, orElse: () => Effect.fail(new MessengerUnavailable({})) })

const live = (session: LiveSession): Live & LiveWriter => ({
  profile: inTime(Effect.catch(session.profile, common)),
  security: (held) => inTime(Effect.catch(session.security(held), common)),
  updateProfile: (patch) => inTime(Effect.catch(session.updateProfile(patch), profileRefusal)),
  setUsername: (username) => inTime(Effect.catch(session.setUsername(username), usernameRefusal)),
  signOut: (id) =>
    inTime(
      session.signOut(AuthorizationId.make(id)).pipe(
        Effect.as<SignOut>({ kind: "done" }),
        Effect.catch(notSignedOut)
      )
    )
})

/** Opens the account's live session for as long as the scope lasts. */
export const open = (
  sessionRef: SessionRef | null
): Effect.Effect<Live & LiveWriter, LiveFailure, MessengerSession | Scope.Scope> =>
  sessionRef === null
    ? Effect.fail(new NoSession({}))
    : Effect.flatMap(
      MessengerSession,
      (messenger) => inTime(Effect.map(Effect.catch(messenger.open(sessionRef), common), live))
    )
