/** Refusals to connect an account, and refusals of a code or a password of its holder. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class CodeInvalid extends Schema.TaggedError<CodeInvalid>()("code_invalid", fields("The code is wrong.")) {
  static readonly status = 400
}

/** The 2FA password of the account's holder. */
export class PasswordInvalid
  extends Schema.TaggedError<PasswordInvalid>()("password_invalid", fields("The 2FA password is wrong."))
{
  static readonly status = 400
}

export class PhoneRefused extends Schema.TaggedError<PhoneRefused>()(
  "phone_refused",
  fields("The messenger has no account that can be signed in to with this number.")
) {
  static readonly status = 400
}

/** The messages of `already_connected` where it is not this organization that protects the account now. */
export const alreadyConnected = {
  elsewhere: "Another organization of this service protects this account: it has to offboard it first.",
  outOfReach: "This organization had this account before, and you do not have access to it: an admin who has can " +
    "connect it.",
  signedIn: "The service is signed in to this account already."
}

export class AlreadyConnected extends Schema.TaggedError<AlreadyConnected>()(
  "already_connected",
  fields("This organization protects this account already.")
) {
  static readonly status = 409
}

export class NoFreeSeat
  extends Schema.TaggedError<NoFreeSeat>()("no_free_seat", fields("The organization has no free seat."))
{
  static readonly status = 409
}

export class NotLicensed extends Schema.TaggedError<NotLicensed>()(
  "not_licensed",
  fields("Protection is not active in this organization: it has no live licence.")
) {
  static readonly status = 409
}

export class LoginInProgress extends Schema.TaggedError<LoginInProgress>()(
  "login_in_progress",
  fields("Another admin is signing in with this number.")
) {
  static readonly status = 409
}

export class LoginStep
  extends Schema.TaggedError<LoginStep>()("login_step", fields("The login is at another step: read it first."))
{
  static readonly status = 409
}

export class LoginExpired
  extends Schema.TaggedError<LoginExpired>()("login_expired", fields("The login has run out: start again."))
{
  static readonly status = 409
}

export class ResendTooEarly extends Schema.TaggedError<ResendTooEarly>()(
  "resend_too_early",
  fields("The messenger sends the next code later: resend_at says when.")
) {
  static readonly status = 409
}

export class WrongAccount extends Schema.TaggedError<WrongAccount>()(
  "wrong_account",
  fields("Another person signed in than the one the account belongs to; nothing was changed.")
) {
  static readonly status = 409
}
