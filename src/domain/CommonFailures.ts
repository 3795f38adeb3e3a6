/** The failures that every operation can answer with. */
import { Effect, Schema } from "effect"
import { failure, fields, RetryAfterSeconds } from "./FailureBase.ts"
import { Scope } from "./people/Scopes.ts"

export class ParameterInvalid
  extends failure<ParameterInvalid>()(400, "parameter_invalid", "A parameter is invalid.")
{}

/** No credential, or an invalid, expired or revoked one; the answer does not say which. */
export class InvalidApiKey
  extends failure<InvalidApiKey>()(401, "invalid_api_key", "The API key is missing, invalid or revoked.")
{}

/**
 * An OAuth token that is invalid, expired, revoked, or issued for the other resource; the answer does not say which.
 */
export class InvalidToken
  extends failure<InvalidToken>()(401, "invalid_token", "The access token is invalid, expired or revoked.")
{}

/** The credential lacks `scope`, which the response names in `WWW-Authenticate` too. */
export class InsufficientScope extends Schema.TaggedError<InsufficientScope>()("insufficient_scope", {
  ...fields("The credential lacks the scope of this operation."),
  scope: Scope
}) {
  static readonly status = 403
}

export class RoleForbidden
  extends failure<RoleForbidden>()(403, "role_forbidden", "The admin's role may not do this.")
{}

export class SuperadminRequired
  extends failure<SuperadminRequired>()(403, "superadmin_required", "Only the owner and superadmins may do this.")
{}

export class OwnerRequired extends failure<OwnerRequired>()(403, "owner_required", "Only the owner may do this.") {}

/** The answer is only for a person: a page of the console shows it instead. */
export class ConsolePageRequired
  extends failure<ConsolePageRequired>()(403, "console_page_required", "This is done on a page of the console.")
{}

export class OrganizationClosed
  extends failure<OrganizationClosed>()(403, "organization_closed", "The organization has been wound down.")
{}

/** No such object in the organization, or one that the admin may not see: both get the same answer. */
export class ResourceMissing extends failure<ResourceMissing>()(404, "resource_missing", "There is no such object.") {}

/** The key was used for another request; a new request needs a new key. */
export class IdempotencyKeyReused extends failure<IdempotencyKeyReused>()(
  409,
  "idempotency_key_reused",
  "This Idempotency-Key was used for a request with other content."
) {}

/** The first request with the key has not been answered yet. */
export class IdempotencyInProgress extends failure<IdempotencyInProgress>()(
  409,
  "idempotency_in_progress",
  "A request with this Idempotency-Key is still running. Repeat it in a moment."
) {}

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
export class FileTooLarge extends failure<FileTooLarge>()(
  409,
  "file_too_large",
  "The content is larger than 8 MiB, the most that this connection carries: download it over HTTP."
) {}

/** The stored bytes are not what was stored, or not all of them. */
export class ContentUnreadable extends failure<ContentUnreadable>()(
  409,
  "content_unreadable",
  "The content cannot be read to its end: what is stored of it was changed or is incomplete."
) {}

export class InternalError
  extends failure<InternalError>()(500, "internal_error", "Something went wrong on the server.")
{}

/** The service cannot answer now, for instance while its database is away. */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("service_unavailable", {
  ...fields("The service is not available at the moment. Try again."),
  retry_after: RetryAfterSeconds.pipe(Schema.withConstructorDefault(Effect.succeed(5)))
}) {
  static readonly status = 503
}
