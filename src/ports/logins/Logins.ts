/** Logins by which accounts are connected. */
import { Context, type Effect, Schema } from "effect"
import type { AccountId, DepartmentId } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import { defaultLoginStarts } from "../../domain/Limits.ts"
import { ConnectRefusal } from "../../domain/logins/Connecting.ts"
import type { LoginFacts, StartedLogins } from "../../domain/logins/Login.ts"
import type { Profile } from "../../domain/messenger/Messenger.ts"
import type { OrganizationFacts } from "../../domain/organization/Organization.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"
import type { Connected, SealedLoginState } from "../messenger/MessengerLogin.ts"

/** The number of logins that an organization may start in an hour. */
export const LoginStarts = Context.Reference<number>("org-security-console/ports/logins/Logins/LoginStarts", {
  defaultValue: () => defaultLoginStarts
})

/** The reason that an account is not connected; nothing of it is kept. */
export class LoginRefusal extends Schema.TaggedError<LoginRefusal>()("LoginRefusal", { reason: ConnectRefusal }) {}

/** The login has ended while its step was under way. */
export class LoginEnded extends Schema.TaggedError<LoginEnded>()("LoginEnded", {}) {}

/** A login that one step has to itself for a while. */
export interface HeldLogin {
  readonly organizationId: OrganizationId
  readonly login: LoginFacts
  /** The token of this step. */
  readonly token: string
  /** The state that the messenger needs at the next step, opened; null before it has answered. */
  readonly state: SealedLoginState | null
  /** An earlier step was begun, and its outcome is not known. */
  readonly unsettled: boolean
}

export interface NewLogin {
  readonly kind: LoginFacts["kind"]
  readonly accountId: AccountId | null
  readonly phoneNumber: string
  readonly roleLabel: string | null
  readonly departmentId: DepartmentId | null
  readonly startedBy: string
}

/** The change by a step; a state is sealed, and null erases it. */
export interface LoginChange extends
  Partial<
    Pick<
      LoginFacts,
      | "attempts_left"
      | "code_delivery"
      | "code_length"
      | "error"
      | "expires_at"
      | "password_hint"
      | "resend_at"
      | "resends"
      | "state"
    >
  >
{
  readonly messenger?: SealedLoginState | null
}

/**
 * The end of the hold: it is released, kept for the next part of the step, or left as a step with an unknown outcome.
 */
export type Release = "release" | "keep" | "unsettled"

/** An account that was connected, or connected again. */
export interface ConnectedAccount {
  readonly accountId: AccountId
  readonly login: LoginFacts
  /** It was offboarded, and is protected again. */
  readonly revived: boolean
}

/** Logins; by default each function works within the organization's transaction. */
export class Logins extends Context.Service<Logins, {
  /** The login, as far as the caller may see it. */
  find(caller: Caller["Service"], id: string): Effect.Effect<LoginFacts | null>
  /** Those that have not ended, as far as the caller may see them, the newest first. */
  unfinished(caller: Caller["Service"], now: Date): Effect.Effect<ReadonlyArray<LoginFacts>>
  /** The login as it is now, whatever the caller can access. */
  read(organizationId: OrganizationId, id: string): Effect.Effect<LoginFacts | null>
  /** Those with the number, or into the account, that have not ended; held for the rest of the transaction. */
  open(
    organizationId: OrganizationId,
    phoneNumber: string,
    accountId: AccountId | null
  ): Effect.Effect<ReadonlyArray<LoginFacts>>
  /** Those that the organization has started in the last hour, and with the number in the last day. */
  started(
    organizationId: OrganizationId,
    phoneNumber: string,
    now: Date
  ): Effect.Effect<{ readonly hour: StartedLogins; readonly day: StartedLogins }>
  /** True if an account of the organization that is not offboarded has the number. */
  isKnownNumber(organizationId: OrganizationId, phoneNumber: string): Effect.Effect<boolean>
  /** True if the account is watched, and was polled since. */
  isWatched(organizationId: OrganizationId, accountId: AccountId, since: Date): Effect.Effect<boolean>
  /**
   * Logins of any organization that have run out, and ended ones that may have left something on the messenger, unless
   * a step holds them; those that ended long ago are forgotten. Outside any transaction.
   */
  left(
    now: Date
  ): Effect.Effect<ReadonlyArray<{ readonly organizationId: OrganizationId; readonly id: string }>, ServiceUnavailable>
  /** Makes a login that this step holds. */
  start(organizationId: OrganizationId, login: NewLogin, now: Date): Effect.Effect<HeldLogin>
  /** Takes the login for one step, and changes it; null while another one has it. */
  hold(
    organizationId: OrganizationId,
    id: string,
    change: LoginChange,
    now: Date
  ): Effect.Effect<HeldLogin | null>
  /** Stores the result of the step, and answers the login; null if it has ended meanwhile, or another step holds it. */
  finishStep(held: HeldLogin, change: LoginChange, release: Release, now: Date): Effect.Effect<LoginFacts | null>
  /** Gives an ended login back, and with `left` false erases what the messenger would have needed. */
  leave(held: HeldLogin, left: boolean): Effect.Effect<void>
  /** Ends a login, even while a step of it runs; null where it has ended. */
  end(
    organizationId: OrganizationId,
    id: string,
    state: "cancelled" | "expired",
    now: Date
  ): Effect.Effect<LoginFacts | null>
  /**
   * Connects the account that was signed in to: seat, licence and person are the organization's then. The organization
   * is locked. Where it fails, nothing of it may be kept.
   */
  complete(
    held: HeldLogin,
    connected: Connected,
    profile: Profile | null,
    context: { readonly caller: Caller["Service"] | null; readonly organization: OrganizationFacts; readonly now: Date }
  ): Effect.Effect<ConnectedAccount, LoginEnded | LoginRefusal>
}>()("org-security-console/ports/logins/Logins") {}
