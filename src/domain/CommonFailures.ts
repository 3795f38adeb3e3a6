/** The failures that every operation can answer with. */
import { Effect, Schema } from "effect"
import { fields, RetryAfterSeconds } from "./FailureBase.ts"
import { Scope } from "./people/Scopes.ts"

export class ParameterInvalid
  extends Schema.TaggedError<ParameterInvalid>()("parameter_invalid", fields("A parameter is invalid."))
{
  static readonly status = 400
}

/** No credential, or an invalid, expired or revoked one; the answer does not say which. */
export class InvalidApiKey
  extends Schema.TaggedError<InvalidApiKey>()("invalid_api_key", fields("The API key is missing, invalid or revoked."))
{
  static readonly status = 401
}

/**
 * An OAuth token that is invalid, expired, revoked, or issued for the other resource; the answer does not say which.
 */
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

export class OwnerRequired
  extends Schema.TaggedError<OwnerRequired>()("owner_required", fields("Only the owner may do this."))
{
  static readonly status = 403
}

/** The answer is only for a person: a page of the console shows it instead. */
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

/** No such object in the organization, or one that the admin may not see: both get the same answer. */
export class ResourceMissing
  extends Schema.TaggedError<ResourceMissing>()("resource_missing", fields("There is no such object."))
{
  static readonly status = 404
}

/** The key was used for another request; a new request needs a new key. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()(
  "idempotency_key_reused",
  fields("This Idempotency-Key was used for a request with other content.")
) {
  static readonly status = 409
}

/** The first request with the key has not been answered yet. */
export class IdempotencyInProgress extends Schema.TaggedError<IdempotencyInProgress>()(
  "idempotency_in_progress",
  fields("A request with this Idempotency-Key is still running. Repeat it in a moment.")
) {
  static readonly status = 409
}

/** Over 120 requests in 60 seconds; `retry_after` is in seconds. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("rate_limited", {
  ...fields("Too many requests."),
  retry_after: RetryAfterSeconds
}) {
  static readonly status = 429
}

/** A part was asked for that lies behind the end; `size` is for the header `Content-Range`. */
export class RangeNotSatisfiable extends Schema.TaggedError<RangeNotSatisfiable>()("range_not_satisfiable", {
  ...fields("The content ends before the range that was asked for."),
  size: Schema.Int.pipe(Schema.withConstructorDefault(Effect.succeed(0)))
}) {
  static readonly status = 416
}

/** The answer would have to be held in memory. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()(
  "file_too_large",
  fields("The content is larger than 8 MiB, the most that this connection carries: download it over HTTP.")
) {
  static readonly status = 409
}

/** The stored bytes are not what was stored, or not all of them. */
export class ContentUnreadable extends Schema.TaggedError<ContentUnreadable>()(
  "content_unreadable",
  fields("The content cannot be read to its end: what is stored of it was changed or is incomplete.")
) {
  static readonly status = 409
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
