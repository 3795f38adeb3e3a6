/**
 * The service's failures (specification, section 7).
 *
 * Each is one class whose tag is the code on the wire, with its status and its message fixed in it. Anything else that
 * goes wrong is a defect and answers 500 `internal_error`.
 */
import { Effect, Schema } from "effect"
import { readingScopesText, Scope } from "./Access.ts"

/** The type that each status carries on the wire. */
export const failureTypes = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  409: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "api_error"
} as const

export type FailureStatus = keyof typeof failureTypes

/** What a failure holds: its sentence, and the input at fault where one is. */
const fields = (message: string) => ({
  message: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed(message))),
  param: Schema.optionalKey(Schema.String)
})

const RetryAfterSeconds = Schema.Int

/** One failure as a value: any instance of the classes below. */
export interface Failure {
  readonly _tag: string
  readonly message: string
  readonly param?: string
}

/** One failure's class: its code is its identifier. */
export interface FailureClass extends Schema.Top {
  readonly identifier: string
  readonly status: FailureStatus
  readonly Type: Failure
  readonly DecodingServices: never
  readonly EncodingServices: never
}

/** The error body (specification, section 7). */
export interface ErrorBody {
  readonly error: { readonly type: string; readonly code: string; readonly message: string; readonly param?: string }
}

export const errorBody = (failure: Failure, status: FailureStatus): ErrorBody => ({
  error: {
    type: failureTypes[status],
    code: failure._tag,
    message: failure.message,
    ...(failure.param === undefined ? {} : { param: failure.param })
  }
})

export class ParameterInvalid
  extends Schema.TaggedError<ParameterInvalid>()("parameter_invalid", fields("A parameter is invalid."))
{
  static readonly status = 400
}

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

/** No credential, or an invalid, expired or revoked one; which of them is not told. */
export class InvalidApiKey
  extends Schema.TaggedError<InvalidApiKey>()("invalid_api_key", fields("The API key is missing, invalid or revoked."))
{
  static readonly status = 401
}

/** An OAuth token that is invalid, expired, revoked, or issued for the other resource; which of them is not told. */
export class InvalidToken extends Schema.TaggedError<InvalidToken>()(
  "invalid_token",
  fields("The access token is invalid, expired or revoked.")
) {
  static readonly status = 401
}

/** The credential lacks `scope`, which the response names in `WWW-Authenticate` too. */
export class InsufficientScope extends Schema.TaggedError<InsufficientScope>()("insufficient_scope", {
  ...fields("The credential lacks the scope of this operation."),
  scope: Scope
}) {
  static readonly status = 403
}

export class RoleForbidden
  extends Schema.TaggedError<RoleForbidden>()("role_forbidden", fields("The admin's role may not do this."))
{
  static readonly status = 403
}

export class SuperadminRequired extends Schema.TaggedError<SuperadminRequired>()(
  "superadmin_required",
  fields("Only the owner and superadmins may do this.")
) {
  static readonly status = 403
}

/** What is asked for needs the admin's console password in the same request. */
export class PasswordRequired extends Schema.TaggedError<PasswordRequired>()(
  "password_required",
  fields(`Any scope beyond ${readingScopesText} needs current_password, the admin's console password.`)
) {
  static readonly status = 403
}

/** More was asked for than the credential itself carries. */
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

/** Nobody is there to hold what would be answered: a page of the console does it instead. */
export class ConsolePageRequired extends Schema.TaggedError<ConsolePageRequired>()(
  "console_page_required",
  fields("This is done on a page of the console.")
) {
  static readonly status = 403
}

export class OrganizationClosed extends Schema.TaggedError<OrganizationClosed>()(
  "organization_closed",
  fields("The organization has been wound down.")
) {
  static readonly status = 403
}

/** No such object in the organization, or one that the admin may not see: the two are not told apart. */
export class ResourceMissing
  extends Schema.TaggedError<ResourceMissing>()("resource_missing", fields("There is no such object."))
{
  static readonly status = 404
}

export class MailPreferencesUnavailable extends Schema.TaggedError<MailPreferencesUnavailable>()(
  "mail_preferences_unavailable",
  fields("The admin has no sign-in of their own yet.")
) {
  static readonly status = 409
}

export class NoSession extends Schema.TaggedError<NoSession>()(
  "no_session",
  fields("The account has no live session of the service: its holder has to connect it again.")
) {
  static readonly status = 409
}

export class NotActive
  extends Schema.TaggedError<NotActive>()("not_active", fields("The account is paused or offboarded."))
{
  static readonly status = 409
}

export class NotPaused extends Schema.TaggedError<NotPaused>()("not_paused", fields("The account is not paused.")) {
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

/** Over 120 requests in 60 seconds; `retry_after` is in seconds. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("rate_limited", {
  ...fields("Too many requests."),
  retry_after: RetryAfterSeconds
}) {
  static readonly status = 429
}

/** Too many wrong passwords; `retry_after` is in seconds. */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("too_many_attempts", {
  ...fields("Too many wrong passwords. Try again later."),
  retry_after: RetryAfterSeconds
}) {
  static readonly status = 429
}

export class InternalError
  extends Schema.TaggedError<InternalError>()("internal_error", fields("Something went wrong on the server."))
{
  static readonly status = 500
}

/** The service cannot answer now, for instance while its database is away. */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("service_unavailable", {
  ...fields("The service is not available at the moment. Try again."),
  retry_after: RetryAfterSeconds.pipe(Schema.withConstructorDefault(Effect.succeed(5)))
}) {
  static readonly status = 503
}

/** The messenger is busy or away; `retry_after` is in seconds. */
export class MessengerUnavailable extends Schema.TaggedError<MessengerUnavailable>()("messenger_unavailable", {
  ...fields("The messenger is not available at the moment. Try again."),
  retry_after: RetryAfterSeconds.pipe(Schema.withConstructorDefault(Effect.succeed(30)))
}) {
  static readonly status = 503
}
