/** Refusals when an account is secured. */
import { failure } from "../FailureBase.ts"

export class EmailRefused
  extends failure<EmailRefused>()(400, "email_refused", "The messenger refuses this address.")
{}

export class TwoFaPasswordRequired extends failure<TwoFaPasswordRequired>()(
  409,
  "two_fa_password_required",
  "The account has a 2FA password that the service does not hold: its holder has to give it."
) {}

export class TwoFaNotManaged extends failure<TwoFaNotManaged>()(
  409,
  "two_fa_not_managed",
  "The service does not hold the account's 2FA password: set one first."
) {}

export class NoPendingChange extends failure<NoPendingChange>()(
  409,
  "no_pending_change",
  "No address waits for its code, or the code has run out: start again."
) {}

export class PasskeyNotEligible extends failure<PasskeyNotEligible>()(
  409,
  "passkey_not_eligible",
  "The messenger does not let the service add a passkey yet."
) {}

export class PasskeyUnsupported
  extends failure<PasskeyUnsupported>()(409, "passkey_unsupported", "The messenger takes no passkey for this account.")
{}

export class PasskeyNotManaged
  extends failure<PasskeyNotManaged>()(409, "passkey_not_managed", "The service holds no passkey of the account.")
{}

export class NoPairedSession
  extends failure<NoPairedSession>()(409, "no_paired_session", "The account has no paired session.")
{}
