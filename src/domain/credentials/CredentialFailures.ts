/** Refusals when a credential is given, and those of the console password. */
import { Schema } from "effect"
import { failure, fields, RetryAfterSeconds } from "../FailureBase.ts"
import { readingScopesText } from "../people/Scopes.ts"

/** The request needs the admin's console password. */
export class PasswordRequired extends failure<PasswordRequired>()(
  403,
  "password_required",
  `Any scope beyond ${readingScopesText} needs current_password, the admin's console password.`
) {}

/** More was requested than the credential itself has. */
export class ScopeExceeded
  extends failure<ScopeExceeded>()(403, "scope_exceeded", "A credential cannot grant scopes that it does not have.")
{}

export class PasswordIncorrect
  extends failure<PasswordIncorrect>()(403, "password_incorrect", "The console password is incorrect.")
{}

/** Too many wrong passwords; `retry_after` is in seconds. */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("too_many_attempts", {
  ...fields("Too many wrong passwords. Try again later."),
  retry_after: RetryAfterSeconds
}) {
  static readonly status = 429
}
