/** The refusals of the authorization server, as its protocols write them. */
import { Schema } from "effect"

/** The codes of RFC 6749, 7009, 7591, 8707, 9101 and OpenID Connect that the server answers. */
export const ErrorCode = Schema.Literals([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "invalid_scope",
  "invalid_target",
  "invalid_redirect_uri",
  "invalid_client_metadata",
  "unsupported_grant_type",
  "unsupported_response_type",
  "access_denied",
  "interaction_required",
  "request_not_supported",
  "request_uri_not_supported"
])
export type ErrorCode = typeof ErrorCode.Type

/** One refusal: its code, and a sentence that repeats nothing of the request. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  error: ErrorCode,
  description: Schema.String
}) {
  override get message(): string {
    return `${this.error}: ${this.description}`
  }
}

export const refuse = (error: ErrorCode, description: string): Refused => new Refused({ error, description })
