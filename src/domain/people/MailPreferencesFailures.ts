/** Refusals to the credential's own admin. */
import { Schema } from "effect"
import { fields } from "../FailureBase.ts"

export class MailPreferencesUnavailable extends Schema.TaggedError<MailPreferencesUnavailable>()(
  "mail_preferences_unavailable",
  fields("The admin has no sign-in of their own yet.")
) {
  static readonly status = 409
}
