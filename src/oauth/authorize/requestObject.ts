import { Effect } from "effect"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/** The request is in the query; request objects are not read (RFC 9101). */
export const checkRequestObject = (parameters: Parameters) =>
  parameters.all("request").length > 0
    ? Effect.fail(refuse("request_not_supported", "Request objects are not supported."))
    : parameters.all("request_uri").length > 0
    ? Effect.fail(refuse("request_uri_not_supported", "Request objects are not supported."))
    : Effect.void
