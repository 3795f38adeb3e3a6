/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    about: "Back in the office on Monday"
  },
  answer: {
    object: "messenger_profile",
    first_name: null,
    last_name: null,
    username: null,
    about: "Back in the office on Monday",
    phone: "31612340012",
    photo_id: null,
    login_email_pattern: null,
    recovery_email_pattern: null,
    two_fa_present: false,
    two_fa_managed: false,
    passkey_present: false,
    passkey_managed: false,
    passkey_eligible_at: null,
    bio_limit: 70,
    paired_session: {
      state: "none",
      since: null,
      error: null
    }
  }
} as const
