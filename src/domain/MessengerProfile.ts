/** An account's profile on the messenger, as the API shows it (specification, section 2.6). */
import { Schema } from "effect"
import type { AccountFacts } from "./Account.ts"
import { bioLimit } from "./Limits.ts"
import type { AccountSecurity, Profile } from "./Messenger.ts"
import { ContentNotice, Count, Timestamp } from "./Wire.ts"

const Told = Schema.NullOr(Schema.String)
const Moment = Schema.NullOr(Timestamp)
const Known = Schema.NullOr(Schema.Boolean)

export const MessengerProfile = Schema.Struct({
  content_notice: ContentNotice,
  object: Schema.Literal("messenger_profile"),
  first_name: Told,
  last_name: Told,
  username: Told.annotate({ description: "Without @." }),
  about: Told,
  phone: Told.annotate({ description: "Digits only." }),
  photo_id: Told,
  login_email_pattern: Told,
  recovery_email_pattern: Told,
  two_fa_present: Known.annotate({ description: "Null when it could not be read." }),
  two_fa_managed: Schema.Boolean,
  passkey_present: Known,
  passkey_managed: Schema.Boolean,
  passkey_eligible_at: Moment,
  bio_limit: Count,
  paired_session: Schema.Struct({ state: Schema.Literals(["none", "active", "lost"]), since: Moment, error: Told })
}).annotate({ identifier: "messenger_profile" })

/** What is shown of the security settings while they cannot be read. */
export const unreadSecurity = (twoFaManaged: boolean, passkeyManaged: boolean): AccountSecurity => ({
  login_email_pattern: null,
  recovery_email_pattern: null,
  two_fa_present: null,
  two_fa_managed: twoFaManaged,
  passkey_present: null,
  passkey_managed: passkeyManaged,
  passkey_eligible_at: null
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
