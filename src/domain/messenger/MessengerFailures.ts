/** Refusals of the messenger. */
import { Effect, Schema } from "effect"
import { fields, RetryAfterSeconds } from "../FailureBase.ts"

/** The messenger refuses the form of a username (section 4.14). */
export class UsernameInvalid extends Schema.TaggedError<UsernameInvalid>()(
  "username_invalid",
  fields("The messenger refuses this username: 5 to 32 letters, digits and underscores, a letter first.")
) {
  static readonly status = 400
}

/** The bio is longer than the account's own `bio_limit` (section 4.10). */
export class BioTooLong extends Schema.TaggedError<BioTooLong>()(
  "bio_too_long",
  fields("The messenger refuses a bio of this length: the account's bio_limit applies.")
) {
  static readonly status = 400
}

export class NoSession extends Schema.TaggedError<NoSession>()(
  "no_session",
  fields("The account has no live session of the service: its holder has to connect it again.")
) {
  static readonly status = 409
}

export class UsernameTaken
  extends Schema.TaggedError<UsernameTaken>()("username_taken", fields("Another account has this username."))
{
  static readonly status = 409
}

export class UsernamePurchasable extends Schema.TaggedError<UsernamePurchasable>()(
  "username_purchasable",
  fields("The messenger sells this username; it cannot be set.")
) {
  static readonly status = 409
}

/** Any other refusal of the messenger. */
export class MessengerRefused
  extends Schema.TaggedError<MessengerRefused>()("messenger_refused", fields("The messenger refuses the change."))
{
  static readonly status = 409
}

/** The messenger is busy or away; `retry_after` is in seconds. */
export class MessengerUnavailable extends Schema.TaggedError<MessengerUnavailable>()("messenger_unavailable", {
  ...fields("The messenger is not available at the moment. Try again."),
  retry_after: RetryAfterSeconds.pipe(Schema.withConstructorDefault(Effect.succeed(30)))
}) {
  static readonly status = 503
}
