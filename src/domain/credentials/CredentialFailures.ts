/** Refusals when a credential is given, and those of the console password. */
import { Schema } from "effect"
import { fields, RetryAfterSeconds } from "../FailureBase.ts"
import { readingScopesText } from "../people/Scopes.ts"

/** The request needs the admin's console password. */
export class PasswordRequired extends Schema.TaggedError<PasswordRequired>()(
  "password_required",
  fields(`Any scope beyond ${readingScopesText} needs current_password, the admin's console password.`)
) {
  static readonly status = 403
}

/** More was requested than the credential itself has. */
export class ScopeExceeded extends Schema.TaggedError<ScopeExceeded>()(
  "scope_exceeded",
  fields("A credential cannot grant scopes that it does not have.")
) {
  static readonly status = 403
}

export class PasswordIncorrect extends Schema.TaggedError<PasswordIncorrect>()(
  "password_incorrect",
  fields("The console password is incorrect.")
) {
  static readonly status = 403
}

/** Too many wrong passwords; `retry_after` is in seconds. */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("too_many_attempts", {
  ...fields("Too many wrong passwords. Try again later."),
  retry_after: RetryAfterSeconds
}) {
  static readonly status = 429
}
