/** An account's profile on the messenger, as the API shows it (specification, section 2.6). */
import { Schema } from "effect"
import { ContentNotice, Count, described, Kind, OptionalTimestamp } from "../JsonShapes.ts"
import { bioLimit } from "../Limits.ts"
import type { AccountSecurity, HeldSecrets, Profile } from "../messenger/Messenger.ts"
import type { AccountFacts } from "./Account.ts"

const NullableText = Schema.NullOr(Schema.String)
const Known = Schema.NullOr(Schema.Boolean)

export const MessengerProfile = Schema.Struct({
  content_notice: ContentNotice,
  object: Kind("messenger_profile"),
  first_name: described(NullableText, "The first name; null where none is set."),
  last_name: described(NullableText, "The last name; null where none is set."),
  username: described(NullableText, "The username, without @."),
  about: described(NullableText, "The bio; null where none is set."),
  phone: described(NullableText, "The phone number: digits alone, with the country code."),
  photo_id: described(NullableText, "The id of the profile photo; null where there is none."),
  login_email_pattern: described(NullableText, "The email address for signing in, masked."),
  recovery_email_pattern: described(NullableText, "The email address that resets the two-step password, masked."),
  two_fa_present: described(Known, "Whether a two-step password is set; null where that could not be read."),
  two_fa_managed: described(
    Schema.Boolean,
    "Whether the two-step password is the service's own, which can be rotated or removed."
  ),
  passkey_present: described(Known, "Whether a passkey is set; null where that could not be read."),
  passkey_managed: described(Schema.Boolean, "Whether the service holds the passkey."),
  passkey_eligible_at: described(
    OptionalTimestamp,
    "From when the messenger lets the service add a passkey; null where it does now."
  ),
  bio_limit: described(
    Count,
    "How many characters the bio may have: 140 with the messenger's premium tier, 70 without."
  ),
  paired_session: described(
    Schema.Struct({
      state: described(
        Schema.Literals(["none", "active", "lost"]),
        "Whether there is a second session of the service."
      ),
      since: described(OptionalTimestamp, "Since when it is in that state."),
      error: described(NullableText, "Why it was lost.")
    }),
    "The service's second session."
  )
}).annotate({ identifier: "messenger_profile" })

/** The security settings as far as they are known while they cannot be read. */
export const unreadSecurity = (held: HeldSecrets, passkeyEligibleAt: Date | null = null): AccountSecurity => ({
  login_email_pattern: null,
  recovery_email_pattern: null,
  recovery_pending_pattern: null,
  has_recovery: null,
  two_fa_present: null,
  two_fa_mark: null,
  two_fa_held: null,
  two_fa_managed: held.twoFaPasswords.length > 0,
  reset_at: null,
  passkey_present: null,
  passkey_ids: null,
  passkey_managed: held.passkeyIds.length > 0,
  passkey_eligible_at: passkeyEligibleAt
})

/** The resource of one account, from what the messenger says and what the service keeps. */
export const messengerProfile = (
  profile: Profile,
  security: AccountSecurity,
  account: AccountFacts
): Omit<typeof MessengerProfile.Type, "content_notice"> => ({
  object: "messenger_profile",
  first_name: profile.first_name,
  last_name: profile.last_name,
  username: profile.username,
  about: profile.about,
  phone: profile.phone,
  photo_id: profile.photo_id,
  login_email_pattern: security.login_email_pattern,
  recovery_email_pattern: security.recovery_email_pattern,
  two_fa_present: security.two_fa_present,
  two_fa_managed: security.two_fa_managed,
  passkey_present: security.passkey_present,
  passkey_managed: security.passkey_managed,
  passkey_eligible_at: security.passkey_eligible_at,
  bio_limit: bioLimit(profile.premium),
  paired_session: { state: account.paired_state, since: account.paired_since, error: account.paired_error }
})
