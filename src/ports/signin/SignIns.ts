/**
 * A sign-in in two steps: the first factor, of any kind, gives a console session immediately where no second one is
 * asked for, and else a pending sign-in that becomes one.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import type { FactorKind } from "../../domain/signin/SecondFactor.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { CookieSite, SessionVisit } from "./ConsoleSessions.ts"
import type {
  FactorAnswer,
  NewFactor,
  PasskeyAnswer,
  PasskeyQuestion,
  RecoveryCodes,
  SecondFactorIncorrect
} from "./SecondFactors.ts"

/** The first factor of a sign-in. */
export interface FirstFactor {
  /** The time when it was given: a password that is set later ends what it began. */
  readonly since: Date
  /** Further details of it in the journal. */
  readonly details?: JournalDetails
  /** The second factor, where it was given together with the first; null and none where the console asks for it. */
  readonly factor?: FactorKind | null
}

/** The result of the first factor, with what to set as cookies. */
export interface FirstFactorResult {
  readonly state: "signed_in" | "pending"
  readonly cookies: ReadonlyArray<string>
}

/** A sign-in that waits for its second factor. */
export interface PendingSignIn extends AdminRef {
  /** Names it without being its secret. */
  readonly id: string
  readonly organizationName: string
  readonly adminName: string
  readonly email: string
  /** False where the organization requires a second factor and the admin has none: it is set up first. */
  readonly hasFactor: boolean
}

/** The sign-in has ended: by time, by wrong answers, or because it was completed. */
export class SignInEnded extends Schema.TaggedError<SignInEnded>()("SignInEnded", {}) {}

/**
 * Pending sign-ins are kept by the digest of a cookie of their own: 15 minutes, five answers, five for each admin and
 * address or known browser, and only as long as the admin is active and has the password that it began with.
 */
export class SignIns extends Context.Service<SignIns, {
  /** Begins a session, or a pending sign-in where the admin has a second factor or the organization requires one. */
  begin(admin: AdminRef, visit: SessionVisit, first: FirstFactor): Effect.Effect<FirstFactorResult, ServiceUnavailable>
  /** The pending sign-in behind the `Cookie` header. */
  current(
    cookies: string | undefined,
    site: CookieSite
  ): Effect.Effect<Option.Option<PendingSignIn>, ServiceUnavailable>
  /** Completes the sign-in by its second factor, once, and answers what to set as cookies. */
  complete(
    pending: PendingSignIn,
    answer: FactorAnswer,
    visit: SessionVisit
  ): Effect.Effect<
    ReadonlyArray<string>,
    SecondFactorIncorrect | SignInEnded | TooManyAttempts | ServiceUnavailable
  >
  /** Completes the sign-in of an admin who has no second factor yet by setting one up. */
  setUp(
    pending: PendingSignIn,
    factor: NewFactor,
    visit: SessionVisit
  ): Effect.Effect<
    { readonly cookies: ReadonlyArray<string>; readonly recoveryCodes: RecoveryCodes },
    SecondFactorIncorrect | SignInEnded | ServiceUnavailable
  >
  /** The WebAuthn options for any admin's passkey; null at a site without passkeys. */
  askAnyone(site: CookieSite): Effect.Effect<PasskeyQuestion | null>
  /** Signs in by a passkey alone, which has verified its user: no wrong password keeps anybody out of this. */
  byPasskey(
    answer: PasskeyAnswer,
    visit: SessionVisit
  ): Effect.Effect<ReadonlyArray<string>, SecondFactorIncorrect | ServiceUnavailable>
}>()("org-security-console/ports/signin/SignIns") {}
