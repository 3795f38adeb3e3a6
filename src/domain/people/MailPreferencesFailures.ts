/** Refusals to the credential's own admin. */
import { failure } from "../FailureBase.ts"

export class MailPreferencesUnavailable extends failure<MailPreferencesUnavailable>()(
  409,
  "mail_preferences_unavailable",
  "The admin has no sign-in of their own yet."
) {}
