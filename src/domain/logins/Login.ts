/** Logins by which accounts are connected (specification, section 10.9). */
import { Duration, Redacted, Schema, SchemaTransformation } from "effect"
import { AccountId, type DepartmentId } from "../accounts/Account.ts"
import { journalAction } from "../journal/JournalEntry.ts"
import { ContentNotice, Count, described, Kind, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import {
  loginAttempts,
  loginLifetime,
  loginsPerNumber,
  maxCodeLength,
  maxHolderPasswordLength,
  minCodeLength,
  reloginsPerNumber
} from "../Limits.ts"
import type { SessionRef } from "../messenger/Messenger.ts"
import { after } from "../Moments.ts"

const LoginKind = Schema.Literals(["connect", "relogin"])
export const LoginState = Schema.Literals([
  "code_sent",
  "password_needed",
  "completed",
  "failed",
  "expired",
  "cancelled"
])
export type LoginState = typeof LoginState.Type

const CodeDelivery = Schema.Literals(["app", "sms", "call", "email", "other"])

/** The login that an operation is about, as a member of its path. */
export const TargetLogin = Uuid.annotateKey({ description: "From start_account_connect." })

const hidden = (text: Schema.Codec<string, string>) =>
  text.pipe(
    Schema.decodeTo(
      Schema.Redacted(Schema.String),
      SchemaTransformation.transform({ decode: (value: string) => Redacted.make(value), encode: Redacted.value })
    )
  )

/** A code as the holder got it: never answered, and hidden wherever it is held. */
export const HolderCode = hidden(
  Schema.String.annotate({ writeOnly: true }).check(
    Schema.isPattern(new RegExp(`^[0-9A-Za-z-]{${minCodeLength},${maxCodeLength}}$`, "u"), {
      expected: `${minCodeLength} to ${maxCodeLength} letters, digits or hyphens`
    })
  )
)

/** A 2FA password of the account's holder: never answered, and hidden wherever it is held. */
export const HolderPassword = hidden(
  Schema.String.annotate({ format: "password", writeOnly: true }).check(
    Schema.isMinLength(1),
    Schema.isMaxCodePoints(maxHolderPasswordLength)
  )
)

export const Login = Schema.Struct({
  content_notice: ContentNotice,
  object: Kind("login"),
  id: described(Uuid, "The login's id: a UUID."),
  kind: described(LoginKind, "`connect` for a new account, `relogin` for one that is known."),
  account_id: described(
    Schema.NullOr(AccountId),
    "The account; null until a login of the kind `connect` is completed."
  ),
  phone_number: described(Schema.String, "The number that is signed in with, in E.164."),
  state: described(
    LoginState,
    "`code_sent`, then `password_needed` where the account has a 2FA password, then `completed`; or how it ended."
  ),
  code_delivery: described(Schema.NullOr(CodeDelivery), "How the messenger sent the code; null where it does not say."),
  code_length: described(Schema.NullOr(Count), "How many characters the code has; null where it is not known."),
  resend_at: described(OptionalTimestamp, "When another code may be asked for; null for at once."),
  password_hint: described(Schema.NullOr(Schema.String), "The hint that the holder wrote for the 2FA password."),
  attempts_left: described(Count, "Wrong entries that are left before the login fails."),
  error: described(Schema.NullOr(Schema.String), "The code of the error that it failed with; else null."),
  expires_at: described(Timestamp, "When it runs out unless its next step is taken: 10 minutes after the last."),
  created_at: described(Timestamp, "When it was started.")
}).annotate({ identifier: "login" })
export type Login = typeof Login.Type

/** The stored facts of a login, but for what the messenger needs at its next step. */
export interface LoginFacts extends Omit<Login, "content_notice" | "object"> {
  readonly role_label: string | null
  readonly department_id: DepartmentId | null
  readonly resends: number
  readonly ended_at: Date | null
  readonly started_by: string
  /** The reference of the new session, made before anything happens on the messenger. */
  readonly session_ref: SessionRef
  /** The end of a step's hold; after that, the step's result is unknown. */
  readonly busy_until: Date | null
}

/** True if a step may still be taken. */
export const isOpen = ({ state }: Pick<LoginFacts, "state">): boolean =>
  state === "code_sent" || state === "password_needed"

/** True if it has expired, whatever its row's state. */
export const isOver = ({ expires_at }: Pick<LoginFacts, "expires_at">, now: Date): boolean => expires_at <= now

/** True if a step was begun whose outcome is unknown. */
export const isUnsettled = ({ busy_until }: Pick<LoginFacts, "busy_until">, now: Date): boolean =>
  busy_until !== null && busy_until <= now

/** The expiry of a login whose step is taken now. */
export const expiryOf = (now: Date): Date => after(now, loginLifetime)

/** The login as it is shown; one that has run out shows so before its row does. */
export const login = (facts: LoginFacts, now: Date): Omit<Login, "content_notice"> => ({
  object: "login",
  id: facts.id,
  kind: facts.kind,
  account_id: facts.account_id,
  phone_number: facts.phone_number,
  state: isOpen(facts) && isOver(facts, now) ? "expired" : facts.state,
  code_delivery: facts.code_delivery,
  code_length: facts.code_length,
  resend_at: facts.resend_at,
  password_hint: facts.password_hint,
  attempts_left: facts.attempts_left,
  error: facts.error,
  expires_at: facts.expires_at,
  created_at: facts.created_at
})

/** The details of a login that are journaled when it is ended. */
export type CancelledLogin = Pick<LoginFacts, "account_id" | "id" | "kind" | "phone_number">

/** The event of a login that was ended before it connected anything. */
export const cancelled = ({ account_id, id, kind, phone_number }: CancelledLogin) => ({
  journal: journalAction("login.cancelled"),
  targetId: id,
  accountId: account_id,
  details: { phone_number, kind }
})

/** Logins that were started, and when the oldest of them. */
export interface StartedLogins {
  readonly count: number
  readonly oldest: Date | null
}

/** Seconds until another login may be started; null where one may be now. */
const waitFor = (
  { count, oldest }: StartedLogins,
  limit: number,
  window: Duration.Duration,
  now: Date
): number | null =>
  count < limit
    ? null
    : Math.max(1, Math.ceil(((oldest ?? now).getTime() + Duration.toMillis(window) - now.getTime()) / 1000))

/** The wait before a start, by what was started before: in the hour by the organization, in the day with the number. */
export const startWait = (
  started: { readonly hour: StartedLogins; readonly day: StartedLogins },
  limits: { readonly perHour: number; readonly ownNumber: boolean },
  now: Date
): number | null =>
  waitFor(started.hour, limits.perHour, Duration.hours(1), now) ??
    waitFor(started.day, limits.ownNumber ? reloginsPerNumber : loginsPerNumber, Duration.days(1), now)

/** The facts of a new login. */
export const fresh = (now: Date) => ({
  state: "code_sent" as const,
  attempts_left: loginAttempts,
  created_at: now,
  expires_at: expiryOf(now)
})
