/**
 * The second factors of an admin at the console: which there are, adding and removing them, and asking for one again.
 */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { CookieSite, SessionVisit, SignedIn } from "./ConsoleSessions.ts"

/** The answer to the question for the second factor. */
export type FactorAnswer =
  /** A code of an authenticator app or a recovery code, as typed. */
  | { readonly kind: "code"; readonly code: Redacted.Redacted }
  | { readonly kind: "passkey" } & PasskeyAnswer

/** The browser's answer to a question: JSON of a `PublicKeyCredential`. */
export interface PasskeyAnswer {
  readonly ticket: string
  readonly response: string
}

/**
 * A question to a browser: the options as JSON, and a ticket that comes back with the answer, once and within minutes.
 */
export interface PasskeyQuestion {
  readonly ticket: string
  readonly options: string
}

/** The admin and the console session or pending sign-in that a challenge is bound to. */
export interface FactorSubject extends AdminRef {
  readonly subject: string
  readonly email: string
  readonly adminName: string | null
}

/** A new authenticator app: its secret as text, the address that its QR code holds, and a ticket for both. */
export interface NewApp {
  readonly ticket: string
  readonly secret: Redacted.Redacted
  readonly address: Redacted.Redacted
}

/** The factor that is added, with the proof that it works. */
export type NewFactor =
  | { readonly kind: "totp"; readonly ticket: string; readonly code: Redacted.Redacted }
  | { readonly kind: "passkey"; readonly name: string } & PasskeyAnswer

/** The factor that is removed: the authenticator app, or the passkey of an id. */
export type KeptFactor = { readonly kind: "totp" } | { readonly kind: "passkey"; readonly id: string }

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  /** True if it is copied to other devices of its owner. */
  readonly backedUp: boolean
  /** The host whose sign-in it works at. */
  readonly host: string
}

/** The second factors of an admin. */
export interface FactorState {
  /** The time when the authenticator app was added. */
  readonly totp: Date | null
  readonly passkeys: ReadonlyArray<Passkey>
  /** The number of recovery codes that are left. */
  readonly recoveryCodes: number
  /** True if the organization requires a second factor. */
  readonly required: boolean
}

/** Codes that are shown this once. */
export type RecoveryCodes = ReadonlyArray<Redacted.Redacted>

/** The answer is none of the admin's second factors, or was used before; or what is added does not work. */
export class SecondFactorIncorrect
  extends Schema.TaggedError<SecondFactorIncorrect>()("SecondFactorIncorrect", { message: Schema.String })
{}

/** The organization requires a second factor, and this is the last one, or there is none. */
export class SecondFactorNeeded
  extends Schema.TaggedError<SecondFactorNeeded>()("SecondFactorNeeded", { message: Schema.String })
{}

/**
 * Every change is journaled and mailed to the admin, and ends the admin's other console sessions. The caller has asked
 * for the console password, and for the second factor where there is one.
 */
export class SecondFactors extends Context.Service<SecondFactors, {
  state(admin: AdminRef): Effect.Effect<FactorState, ServiceUnavailable>
  /** True if the session need not ask: the admin has no second factor, or gave it within the last minutes. */
  remembered(admin: SignedIn): Effect.Effect<boolean, ServiceUnavailable>
  /** The question for a passkey; null where none of the admin's works at the site. */
  ask(holder: FactorSubject, site: CookieSite): Effect.Effect<PasskeyQuestion | null, ServiceUnavailable>
  /** Uses the answer up, and remembers it in the session. */
  confirm(
    admin: SignedIn,
    answer: FactorAnswer,
    visit: SessionVisit
  ): Effect.Effect<void, SecondFactorIncorrect | TooManyAttempts | ServiceUnavailable>
  readonly newApp: (holder: FactorSubject) => Effect.Effect<NewApp>
  /** The question by which a browser makes a passkey; null at a site where it cannot. */
  newPasskey(holder: FactorSubject, site: CookieSite): Effect.Effect<PasskeyQuestion | null, ServiceUnavailable>
  /** Adds a factor; an app takes the place of the one before. The first factor comes with recovery codes. */
  add(
    admin: SignedIn,
    factor: NewFactor,
    visit: SessionVisit
  ): Effect.Effect<RecoveryCodes | null, SecondFactorIncorrect | ServiceUnavailable>
  /** Removes a factor, with the last one the recovery codes; false where there is none such. */
  remove(
    admin: SignedIn,
    factor: KeptFactor,
    visit: SessionVisit
  ): Effect.Effect<boolean, SecondFactorNeeded | ServiceUnavailable>
  /** Makes new recovery codes; those before stop. */
  renewCodes(
    admin: SignedIn,
    visit: SessionVisit
  ): Effect.Effect<RecoveryCodes, SecondFactorNeeded | ServiceUnavailable>
  /**
   * Sets whether the organization requires a second factor, for its owner who has one: console sessions of admins who
   * have none end, and their next sign-in begins with setting one up.
   */
  require(
    owner: SignedIn,
    required: boolean,
    visit: SessionVisit
  ): Effect.Effect<void, SecondFactorNeeded | ServiceUnavailable>
}>()("org-security-console/ports/signin/SecondFactors") {}
