/** Refusals to connect an account, and refusals of a code or a password of its holder. */
import { failure } from "../FailureBase.ts"

export class CodeInvalid extends failure<CodeInvalid>()(400, "code_invalid", "The code is wrong.") {}

/** The 2FA password of the account's holder. */
export class PasswordInvalid
  extends failure<PasswordInvalid>()(400, "password_invalid", "The 2FA password is wrong.")
{}

export class PhoneRefused extends failure<PhoneRefused>()(
  400,
  "phone_refused",
  "The messenger has no account that can be signed in to with this number."
) {}

/** The messages of `already_connected` where it is not this organization that protects the account now. */
export const alreadyConnected = {
  elsewhere: "Another organization of this service protects this account: it has to offboard it first.",
  outOfReach: "This organization had this account before, and you do not have access to it: an admin who has can " +
    "connect it.",
  signedIn: "The service is signed in to this account already."
}

export class AlreadyConnected
  extends failure<AlreadyConnected>()(409, "already_connected", "This organization protects this account already.")
{}

export class NoFreeSeat extends failure<NoFreeSeat>()(409, "no_free_seat", "The organization has no free seat.") {}

export class NotLicensed extends failure<NotLicensed>()(
  409,
  "not_licensed",
  "Protection is not active in this organization: it has no live licence."
) {}

export class LoginInProgress
  extends failure<LoginInProgress>()(409, "login_in_progress", "Another admin is signing in with this number.")
{}

export class LoginStep
  extends failure<LoginStep>()(409, "login_step", "The login is at another step: read it first.")
{}

export class LoginExpired
  extends failure<LoginExpired>()(409, "login_expired", "The login has run out: start again.")
{}

export class ResendTooEarly extends failure<ResendTooEarly>()(
  409,
  "resend_too_early",
  "The messenger sends the next code later: resend_at says when."
) {}

export class WrongAccount extends failure<WrongAccount>()(
  409,
  "wrong_account",
  "Another person signed in than the one the account belongs to; nothing was changed."
) {}
