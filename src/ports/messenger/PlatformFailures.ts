/** The failures of calls to the messaging platform, in its own words. */
import { Schema } from "effect"
import { SessionEnd } from "../../domain/messenger/Messenger.ts"

/** The service has no live session under this reference, or has none any more. */
export class NoSession extends Schema.TaggedError<NoSession>()("NoSession", { reason: SessionEnd }) {}

/** The platform demands a wait (a flood wait). */
export class PlatformBusy extends Schema.TaggedError<PlatformBusy>()("PlatformBusy", {
  retryAfterSeconds: Schema.Int
}) {}

/** The platform did not answer; whether it did anything is unknown. */
export class PlatformUnavailable extends Schema.TaggedError<PlatformUnavailable>()("PlatformUnavailable", {}) {}

/** The platform refused for a reason that has no name here; `reason` is its own text, only for the log. */
export class PlatformRefused extends Schema.TaggedError<PlatformRefused>()("PlatformRefused", {
  reason: Schema.String
}) {}

/** The failures of every call to the platform. */
export type MessengerFailure = NoSession | PlatformBusy | PlatformUnavailable | PlatformRefused

/** The platform refused the username. */
export class UsernameRefused extends Schema.TaggedError<UsernameRefused>()("UsernameRefused", {
  reason: Schema.Literals(["taken", "malformed", "purchasable"])
}) {}

/** The platform refused a field of the profile; nothing of the patch was applied. */
export class ProfileRefused extends Schema.TaggedError<ProfileRefused>()("ProfileRefused", {
  reason: Schema.Literals(["about_too_long", "name_invalid"]),
  field: Schema.Literals(["first_name", "last_name", "about"])
}) {}

/** The platform does not let this session sign others out yet; the time is null where it gives none. */
export class SignOutLocked extends Schema.TaggedError<SignOutLocked>()("SignOutLocked", {
  until: Schema.NullOr(Schema.Date)
}) {}

/** The platform lists no authorization of this id to this session. */
export class UnknownAuthorization extends Schema.TaggedError<UnknownAuthorization>()("UnknownAuthorization", {}) {}

/** The 2FA password that was given is not the account's. */
export class PasswordInvalid extends Schema.TaggedError<PasswordInvalid>()("PasswordInvalid", {}) {}
