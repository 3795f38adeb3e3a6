/** The outside world of the simulated platform: people, their devices, and what goes wrong. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type {
  AuthorizationId,
  MessengerUserId,
  ProfilePatch,
  SessionEnd,
  SessionRef
} from "../../../domain/messenger/Messenger.ts"
import type { CodeChannel } from "../../../ports/messenger/MessengerLogin.ts"
import type { ProfileRefused, SignOutLocked, UsernameRefused } from "../../../ports/messenger/MessengerSession.ts"

/** A call of the service to the platform. */
export const PlatformOperation = Schema.Literals([
  "open",
  "profile",
  "security",
  "update_profile",
  "set_username",
  "authorizations",
  "sign_out",
  "confirm",
  "check_password",
  "set_password",
  "remove_password",
  "log_out",
  "pair",
  "set_recovery_email",
  "confirm_recovery_email",
  "cancel_recovery_email",
  "remove_recovery_email",
  "start_login_email",
  "confirm_login_email",
  "add_passkey",
  "remove_passkey",
  "begin",
  "resend",
  "submit_code",
  "submit_password",
  "cancel",
  "resolve",
  "difference",
  "read_chats",
  "read_history",
  "read_file"
])
export type PlatformOperation = typeof PlatformOperation.Type

/** The platform's answer to a call that a script matches. */
export const ScriptedAnswer = Schema.TaggedUnion({
  /** A flood wait. */
  Busy: { seconds: Schema.Int },
  /** Nothing is done and nothing is answered: the connection fails immediately. */
  Unavailable: {},
  Refused: { reason: Schema.String },
  /** The call waits on the Clock, then is done and answered. */
  Slow: { milliseconds: Schema.Int },
  /** Nothing is done and the call never returns. */
  Silent: {},
  /** The call is done, and the caller sees the connection fail. */
  Lost: {},
  /** Reading the security settings answers without them; other calls are answered as ever. */
  SecurityUnreadable: {}
})
export type ScriptedAnswer = typeof ScriptedAnswer.Type

/** The answer to the next calls that it matches; scripts are used up in the order in which they were added. */
export interface Script {
  readonly answer: ScriptedAnswer
  /** The calls it matches; absent, every call. */
  readonly operation?: PlatformOperation
  /** The account it matches; absent, every account. */
  readonly userId?: MessengerUserId
  /** The number of calls that it answers; absent, one. */
  readonly times?: number
}

/** One call that the service made, whatever came of it; `user_id` is null when its session was not known. */
export interface PlatformCall {
  readonly operation: PlatformOperation
  readonly user_id: MessengerUserId | null
  readonly at: Date
}

/** The number of the latest calls that are kept at least. */
export const callsKept = 10_000

/** A new account; what is left out is empty. */
export interface NewSimulatedAccount {
  /** Digits only. */
  readonly phone: string
  /** Empty for an account that has no name. */
  readonly first_name: string
  readonly last_name?: string
  readonly username?: string
  readonly about?: string
  readonly photo_id?: string
  readonly premium?: boolean
  readonly security?: SecurityChange
}

/** A change of the profile by its holder; an absent field stays, null removes. */
export interface HolderChange extends ProfilePatch {
  readonly username?: string | null
  readonly phone?: string
  readonly photo_id?: string | null
}

/** A change of the security settings by their holder or an intruder; an absent field stays, null removes. */
export interface SecurityChange {
  /** A password that is set again counts as changed even where it is the same. */
  readonly two_fa_password?: Redacted.Redacted | null
  /** The holder's reminder of the password. */
  readonly two_fa_hint?: string | null
  /** The full address; the platform keeps only its pattern. */
  readonly login_email?: string | null
  readonly recovery_email?: string | null
  /** A recovery email that waits for its code. */
  readonly recovery_pending?: string | null
  /** The one passkey. */
  readonly passkey_id?: string | null
  readonly passkey_ids?: ReadonlyArray<string>
}

/** A device's description of itself when it signs in, and what the platform sees of it. */
export interface Device {
  readonly device_model?: string
  readonly platform?: string
  readonly app_name?: string
  readonly app_version?: string
  readonly ip?: string
  readonly country?: string
  /** Absent means now; null where the platform does not report it. */
  readonly created_at?: Date | null
  /** The start of the 24 hours; absent, `created_at`. */
  readonly signed_in_at?: Date
  /** Absent, `created_at`. */
  readonly last_active_at?: Date | null
  /** True if the platform asks the holder to confirm it; absent, if it signs in now. */
  readonly unconfirmed?: boolean
}

/** A session of the service. */
export interface ServiceDevice extends Device {
  /**
   * How the platform shows the session to itself: as `0`, or, in a world that says so, under the id that others see.
   */
  readonly shown_as?: "0" | "id"
}

/** A code as it arrives at the holder: on another device, in a message, by a call, or by email. */
export interface ArrivedCode {
  /** Digits only. */
  readonly phone: string
  readonly code: Redacted.Redacted
  readonly channel: CodeChannel
  readonly sentAt: Date
}

/** A code that was sent to an address. */
export interface AddressCode {
  /** The account's number: digits only. */
  readonly phone: string | null
  readonly kind: "recovery" | "login"
  readonly pattern: string
  readonly code: Redacted.Redacted
  readonly until: Date
}

/** An account that the service has a session of, and its number of unconfirmed sign-ins. */
export interface HeldAccount {
  readonly userId: MessengerUserId
  /** Digits only. */
  readonly phone: string | null
  readonly unconfirmed: number
}

/**
 * Simulates the outside world on the simulated platform; the API gives no access to it.
 *
 * An account or authorization that does not exist, and a phone number that is none or another account's, are defects.
 */
export class SimulatedPlatform extends Context.Service<SimulatedPlatform, {
  createAccount(account: NewSimulatedAccount): Effect.Effect<MessengerUserId, ProfileRefused | UsernameRefused>
  /** The service signs in to the account, once more where it has: its authorization is as young as the device says. */
  connect(userId: MessengerUserId, device?: ServiceDevice): Effect.Effect<SessionRef>
  /** The id under which the others see a session of the service. */
  authorizationId(sessionRef: SessionRef): Effect.Effect<AuthorizationId>
  changeProfile(userId: MessengerUserId, change: HolderChange): Effect.Effect<void, ProfileRefused | UsernameRefused>
  setPremium(userId: MessengerUserId, premium: boolean): Effect.Effect<void>
  changeSecurity(userId: MessengerUserId, change: SecurityChange): Effect.Effect<void>
  /** Someone who does not know the 2FA password has it removed in seven days, or takes that back. */
  askForReset(userId: MessengerUserId, wanted: boolean): Effect.Effect<void>
  /** The platform sends a code for signing in, which is not entered. */
  sendCode(userId: MessengerUserId): Effect.Effect<void>
  /** Someone signs in from another device. */
  logIn(userId: MessengerUserId, device: Device): Effect.Effect<AuthorizationId>
  /** Someone has the code and not yet the 2FA password. */
  beginLogIn(userId: MessengerUserId, device: Device): Effect.Effect<AuthorizationId>
  /** That someone gives the password. */
  finishLogIn(userId: MessengerUserId, id: AuthorizationId): Effect.Effect<void>
  /** The holder confirms that an authorization is theirs. */
  confirm(userId: MessengerUserId, id: AuthorizationId): Effect.Effect<void>
  /** A device signs out; the service's own is revoked like any other. */
  logOut(userId: MessengerUserId, id: AuthorizationId): Effect.Effect<void>
  /** One device signs another one out, once it is old enough. */
  signOut(userId: MessengerUserId, actor: AuthorizationId, id: AuthorizationId): Effect.Effect<void, SignOutLocked>
  /**
   * Ends every session of the service in the account, as revoked unless said otherwise; `deleted` and `banned` end all.
   */
  revokeService(userId: MessengerUserId, reason?: Exclude<SessionEnd, "never">): Effect.Effect<void>
  /** Stops and resumes events about signed-in devices; the events in between are lost. */
  setUnreachable(userId: MessengerUserId, unreachable: boolean): Effect.Effect<void>
  /** No session can sign others out any more, and none is seen active. */
  setFrozen(userId: MessengerUserId, frozen: boolean): Effect.Effect<void>
  /** Loses the next events of the account. */
  dropEvents(userId: MessengerUserId, times: number): Effect.Effect<void>
  /** The platform sells the username instead of giving it away. */
  offerForSale(username: string): Effect.Effect<void>
  /** The code that was sent to an address of the account last; null where none waits. */
  emailCode(userId: MessengerUserId, kind: "recovery" | "login"): Effect.Effect<Redacted.Redacted | null>
  /** True if the text is the account's 2FA password; false where it has none. */
  isPassword(userId: MessengerUserId, candidate: Redacted.Redacted): Effect.Effect<boolean>
  /** The codes of logins of the service that have not run out, the oldest first. */
  readonly codes: Effect.Effect<ReadonlyArray<ArrivedCode>>
  /** The codes that were sent to addresses and have not run out. */
  readonly addressCodes: Effect.Effect<ReadonlyArray<AddressCode>>
  /** The accounts with a session of the service that are neither frozen nor unreachable. */
  readonly connected: Effect.Effect<ReadonlyArray<HeldAccount>>
  script(script: Script): Effect.Effect<void>
  readonly clearScripts: Effect.Effect<void>
  /** The latest calls of the service, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<PlatformCall>>
}>()("org-security-console/layers/messenger/simulated/SimulatedPlatform") {}
