/** Refusals of the messenger. */
import { Effect, Schema } from "effect"
import { failure, fields, RetryAfterSeconds } from "../FailureBase.ts"

/** The messenger refuses the form of a username (section 4.14). */
export class UsernameInvalid extends failure<UsernameInvalid>()(
  400,
  "username_invalid",
  "The messenger refuses this username: 5 to 32 letters, digits and underscores, a letter first."
) {}

/** The bio is longer than the account's own `bio_limit` (section 4.10). */
export class BioTooLong extends failure<BioTooLong>()(
  400,
  "bio_too_long",
  "The messenger refuses a bio of this length: the account's bio_limit applies."
) {}

export class NoSession extends failure<NoSession>()(
  409,
  "no_session",
  "The account has no live session of the service: its holder has to connect it again."
) {}

export class UsernameTaken
  extends failure<UsernameTaken>()(409, "username_taken", "Another account has this username.")
{}

export class UsernamePurchasable extends failure<UsernamePurchasable>()(
  409,
  "username_purchasable",
  "The messenger sells this username; it cannot be set."
) {}

/** Any other refusal of the messenger. */
export class MessengerRefused
  extends failure<MessengerRefused>()(409, "messenger_refused", "The messenger refuses the change.")
{}

/** The messenger is busy or away; `retry_after` is in seconds. */
export class MessengerUnavailable extends Schema.TaggedError<MessengerUnavailable>()("messenger_unavailable", {
  ...fields("The messenger is not available at the moment. Try again."),
  retry_after: RetryAfterSeconds.pipe(Schema.withConstructorDefault(Effect.succeed(30)))
}) {
  static readonly status = 503
}
