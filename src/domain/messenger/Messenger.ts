/** The messaging platform's reports about an account, independent of any wire protocol. */
import { type Redacted, Schema } from "effect"

/** Opaque reference to one of the service's own sessions; it is stored with the account and holds no key. */
export const SessionRef = Schema.NonEmptyString.pipe(Schema.brand("SessionRef"))
export type SessionRef = typeof SessionRef.Type

/** The platform's id of a person: 64 bits on the platform, therefore never a number. */
export const MessengerUserId = Schema.NonEmptyString.pipe(Schema.brand("MessengerUserId"))
export type MessengerUserId = typeof MessengerUserId.Type

/** The platform's account that sends login codes. */
export const codeSender = 777_000n

/** The platform's own accounts, which send codes: a reader of their chats could sign in as the holder. */
export const serviceAccounts: ReadonlySet<bigint> = new Set([codeSender, 42_777n])

/** The platform's id of an authorization (`session.id`, specification 2.4). */
export const AuthorizationId = Schema.NonEmptyString.pipe(Schema.brand("AuthorizationId"))
export type AuthorizationId = typeof AuthorizationId.Type

/** The profile as the platform has it (specification 2.6); a text is never empty but null. */
export const Profile = Schema.Struct({
  user_id: MessengerUserId,
  first_name: Schema.NullOr(Schema.NonEmptyString),
  last_name: Schema.NullOr(Schema.NonEmptyString),
  /** Without @. */
  username: Schema.NullOr(Schema.NonEmptyString),
  about: Schema.NullOr(Schema.NonEmptyString),
  /** Digits only. */
  phone: Schema.NullOr(Schema.NonEmptyString),
  photo_id: Schema.NullOr(Schema.NonEmptyString),
  premium: Schema.Boolean
})
export type Profile = typeof Profile.Type

/** The changes to a profile: an absent field stays as it is, an empty text clears the field. */
export interface ProfilePatch {
  readonly first_name?: string
  readonly last_name?: string
  readonly about?: string
}

/** The secrets of an account's security that the service itself holds, or may hold. */
export interface HeldSecrets {
  /** Candidates for the 2FA password, the likeliest first. */
  readonly twoFaPasswords: ReadonlyArray<Redacted.Redacted>
  /** The platform's ids of passkeys that the service added. */
  readonly passkeyIds: ReadonlyArray<string>
}

/** The state of an account's security settings (specification 2.6); what could not be read is null. */
export const AccountSecurity = Schema.Struct({
  /** Masked; null without a login email. */
  login_email_pattern: Schema.NullOr(Schema.NonEmptyString),
  /** Masked; null without a recovery email, and when no held password is the account's. */
  recovery_email_pattern: Schema.NullOr(Schema.NonEmptyString),
  /** Masked; the recovery email that waits for its code. */
  recovery_pending_pattern: Schema.NullOr(Schema.NonEmptyString),
  has_recovery: Schema.NullOr(Schema.Boolean),
  two_fa_present: Schema.NullOr(Schema.Boolean),
  /** Changes whenever the 2FA password is set, even to the same one: compared, never shown; null without a password. */
  two_fa_mark: Schema.NullOr(Schema.NonEmptyString),
  /** The place of the held candidate that is the account's password; null where none is. */
  two_fa_held: Schema.NullOr(Schema.Natural),
  /** True if a password that the service holds is the account's; when it could not be read, if it holds one. */
  two_fa_managed: Schema.Boolean,
  /** The time when the platform removes the 2FA password, because a reset was requested without knowing it. */
  reset_at: Schema.NullOr(Schema.Date),
  passkey_present: Schema.NullOr(Schema.Boolean),
  passkey_ids: Schema.NullOr(Schema.Array(Schema.NonEmptyString)),
  /** True if a passkey that the service holds is among the account's; when it could not be read, if it holds one. */
  passkey_managed: Schema.Boolean,
  /** The time when the platform lets this session add a passkey; null when it can now. */
  passkey_eligible_at: Schema.NullOr(Schema.Date)
})
export type AccountSecurity = typeof AccountSecurity.Type

/** A device that is signed in to the account (specification 2.4), as the platform lists it. */
export const Authorization = Schema.Struct({
  /** The platform shows the asking session to itself under an id of its own, `0`. */
  id: AuthorizationId,
  /** The current session, as the platform reports it; never derived from names, which an attacker chooses. */
  current: Schema.Boolean,
  device_model: Schema.NullOr(Schema.NonEmptyString),
  platform: Schema.NullOr(Schema.NonEmptyString),
  app_name: Schema.NullOr(Schema.NonEmptyString),
  app_version: Schema.NullOr(Schema.NonEmptyString),
  ip: Schema.NullOr(Schema.NonEmptyString),
  country: Schema.NullOr(Schema.NonEmptyString),
  last_active_at: Schema.NullOr(Schema.Date),
  created_at: Schema.NullOr(Schema.Date),
  /** Its device has the code and not yet the 2FA password: it is not signed in. */
  password_pending: Schema.Boolean,
  /** The platform waits for the holder to confirm that it is theirs. */
  unconfirmed: Schema.Boolean
})
export type Authorization = typeof Authorization.Type

/** The reason that the service has no session: `never` had one, or how it ended. */
export const SessionEnd = Schema.Literals(["never", "revoked", "logged_out", "deleted", "banned", "key_duplicated"])
export type SessionEnd = typeof SessionEnd.Type

/** The names that the service's own sessions give themselves; any other session may use the same ones. */
export const serviceDevice = {
  device_model: "Server",
  platform: "Linux",
  app_name: "Organization Security Console"
} as const

/** An event that the platform pushes to a session. */
export const MessengerEvent = Schema.TaggedUnion({
  /** A device signed in, and the platform waits for the holder to confirm it. */
  NewAuthorization: { id: AuthorizationId },
  /** An authorization was confirmed, or ended. */
  AuthorizationResolved: { id: AuthorizationId },
  /** The platform sent a code for signing in to the account. */
  CodeSent: {},
  /** Profile, username or phone number changed. */
  ProfileChanged: {},
  /** Events were lost. */
  Gap: {},
  /** The session ended; nothing follows. */
  Lost: { reason: SessionEnd }
})
export type MessengerEvent = typeof MessengerEvent.Type

/** The number of characters kept of a text from the platform that has no limit of its own. */
const maxTextLength = 256

/**
 * A text from the platform, cleaned so that it may be stored and shown; null when nothing is left.
 *
 * U+0000 and lone surrogates are removed, control characters become a space, and the first `limit` characters are kept.
 * A bio has lines: there U+000A stays.
 */
export const cleanText = (text: string | null, limit: number = maxTextLength, lines = false): string | null => {
  let cleaned = ""
  let kept = 0
  // Megabytes of removed characters are not all processed.
  for (const character of (text ?? "").slice(0, 64 * limit)) {
    const point = character.codePointAt(0) ?? 0
    if (point === 0 || (point >= 0xd800 && point <= 0xdfff)) continue
    if (kept++ === limit) break
    const control = point < 0x20 || (point >= 0x7f && point < 0xa0)
    cleaned += control && !(lines && character === "\n") ? " " : character
  }
  return textOrNull(cleaned)
}

/** The authorization with the texts of its device cleaned. */
export const cleanAuthorization = (authorization: Authorization): Authorization => ({
  ...authorization,
  device_model: cleanText(authorization.device_model),
  platform: cleanText(authorization.platform),
  app_name: cleanText(authorization.app_name),
  app_version: cleanText(authorization.app_version),
  ip: cleanText(authorization.ip),
  country: cleanText(authorization.country)
})

/** The profile with its texts cleaned. */
export const cleanProfile = (profile: Profile): Profile => ({
  ...profile,
  first_name: cleanText(profile.first_name),
  last_name: cleanText(profile.last_name),
  username: cleanText(profile.username),
  about: cleanText(profile.about, undefined, true),
  phone: cleanText(profile.phone)
})

/** The security settings with their texts cleaned. */
export const cleanSecurity = (security: AccountSecurity): AccountSecurity => ({
  ...security,
  login_email_pattern: cleanText(security.login_email_pattern),
  recovery_email_pattern: cleanText(security.recovery_email_pattern),
  recovery_pending_pattern: cleanText(security.recovery_pending_pattern)
})

/** An empty text is no text. */
export const textOrNull = (text: string): string | null => text === "" ? null : text

/**
 * The pattern under which an email address may be shown: `j*****e@example.com`.
 *
 * Of the part before the @ it keeps the first and the last character when there are three or more, the first alone
 * when there are two, and none otherwise; the number of stars says nothing.
 */
export const maskEmail = (address: string): string => {
  const at = address.lastIndexOf("@")
  if (at === -1) return "*****"
  const local = Array.from(address.slice(0, at))
  const first = local.length > 1 ? local[0] : ""
  const last = local.length > 2 ? local[local.length - 1] : ""
  return `${first}*****${last}${address.slice(at)}`
}

/** The wanted fields that differ from the profile; setting what is set already changes nothing. */
export const changedFields = (profile: Profile, wanted: ProfilePatch): ProfilePatch => ({
  ...(wanted.first_name === undefined || textOrNull(wanted.first_name) === profile.first_name
    ? {}
    : { first_name: wanted.first_name }),
  ...(wanted.last_name === undefined || textOrNull(wanted.last_name) === profile.last_name
    ? {}
    : { last_name: wanted.last_name }),
  ...(wanted.about === undefined || textOrNull(wanted.about) === profile.about ? {} : { about: wanted.about })
})
