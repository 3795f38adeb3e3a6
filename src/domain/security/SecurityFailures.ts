/** Refusals when an account is secured. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class EmailRefused
  extends Schema.TaggedError<EmailRefused>()("email_refused", fields("The messenger refuses this address."))
{
  static readonly status = 400
}

export class TwoFaPasswordRequired extends Schema.TaggedError<TwoFaPasswordRequired>()(
  "two_fa_password_required",
  fields("The account has a 2FA password that the service does not hold: its holder has to give it.")
) {
  static readonly status = 409
}

export class TwoFaNotManaged extends Schema.TaggedError<TwoFaNotManaged>()(
  "two_fa_not_managed",
  fields("The service does not hold the account's 2FA password: set one first.")
) {
  static readonly status = 409
}

export class NoPendingChange extends Schema.TaggedError<NoPendingChange>()(
  "no_pending_change",
  fields("No address waits for its code, or the code has run out: start again.")
) {
  static readonly status = 409
}

export class PasskeyNotEligible extends Schema.TaggedError<PasskeyNotEligible>()(
  "passkey_not_eligible",
  fields("The messenger does not let the service add a passkey yet.")
) {
  static readonly status = 409
}

export class PasskeyUnsupported extends Schema.TaggedError<PasskeyUnsupported>()(
  "passkey_unsupported",
  fields("The messenger takes no passkey for this account.")
) {
  static readonly status = 409
}

export class PasskeyNotManaged extends Schema.TaggedError<PasskeyNotManaged>()(
  "passkey_not_managed",
  fields("The service holds no passkey of the account.")
) {
  static readonly status = 409
}

export class NoPairedSession extends Schema.TaggedError<NoPairedSession>()(
  "no_paired_session",
  fields("The account has no paired session.")
) {
  static readonly status = 409
}
