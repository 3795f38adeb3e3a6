/** What the messaging platform tells about an account, independent of any wire protocol. */
import { Schema } from "effect"

/** Opaque reference to one of the service's own sessions; it is stored with the account and holds no key. */
export const SessionRef = Schema.NonEmptyString.pipe(Schema.brand("SessionRef"))
export type SessionRef = typeof SessionRef.Type

/** The platform's id of a person: 64 bits on the platform, therefore never a number. */
export const MessengerUserId = Schema.NonEmptyString.pipe(Schema.brand("MessengerUserId"))
export type MessengerUserId = typeof MessengerUserId.Type

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

/** What to change in a profile: an absent field stays as it is, an empty text clears the field. */
export interface ProfilePatch {
  readonly first_name?: string
  readonly last_name?: string
  readonly about?: string
}

/** The state of an account's security settings (specification 2.6). */
export const AccountSecurity = Schema.Struct({
  /** Masked; null without a login email, or when it could not be read. */
  login_email_pattern: Schema.NullOr(Schema.NonEmptyString),
  /** Masked; null without a recovery email, when it could not be read, and when the service does not hold the password. */
  recovery_email_pattern: Schema.NullOr(Schema.NonEmptyString),
  /** Null when it could not be read. */
  two_fa_present: Schema.NullOr(Schema.Boolean),
  /** Whether the password that the service holds is the account's; when it could not be read, whether it holds one. */
  two_fa_managed: Schema.Boolean,
  /** Null when it could not be read. */
  passkey_present: Schema.NullOr(Schema.Boolean),
  /** Whether the passkey that the service holds is among the account's; when it could not be read, whether it holds one. */
  passkey_managed: Schema.Boolean,
  /** When the platform lets this session add a passkey; null when it can now. */
  passkey_eligible_at: Schema.NullOr(Schema.Date)
})
export type AccountSecurity = typeof AccountSecurity.Type

/** A device that is signed in to the account (specification 2.4), as the platform lists it. */
export const Authorization = Schema.Struct({
  id: AuthorizationId,
  /** The session that asks, as the platform says it; never derived from names, which an attacker chooses. */
  current: Schema.Boolean,
  device_model: Schema.NullOr(Schema.NonEmptyString),
  platform: Schema.NullOr(Schema.NonEmptyString),
  app_name: Schema.NullOr(Schema.NonEmptyString),
  app_version: Schema.NullOr(Schema.NonEmptyString),
  ip: Schema.NullOr(Schema.NonEmptyString),
  country: Schema.NullOr(Schema.NonEmptyString),
  last_active_at: Schema.NullOr(Schema.Date),
  created_at: Schema.NullOr(Schema.Date)
})
export type Authorization = typeof Authorization.Type

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

/** What of the wanted fields differs from the profile; setting what is set already changes nothing. */
export const changedFields = (profile: Profile, wanted: ProfilePatch): ProfilePatch => ({
  ...(wanted.first_name === undefined || textOrNull(wanted.first_name) === profile.first_name
    ? {}
    : { first_name: wanted.first_name }),
  ...(wanted.last_name === undefined || textOrNull(wanted.last_name) === profile.last_name
    ? {}
    : { last_name: wanted.last_name }),
  ...(wanted.about === undefined || textOrNull(wanted.about) === profile.about ? {} : { about: wanted.about })
})
