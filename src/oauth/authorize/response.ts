import { Effect } from "effect"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/** The answer is a code, in the query. */
export const checkResponse = (parameters: Parameters) => {
  const type = parameters.get("response_type")
  const mode = parameters.get("response_mode") ?? "query"
  return type === undefined
    ? Effect.fail(refuse("invalid_request", "response_type is required."))
    : type !== "code"
    ? Effect.fail(refuse("unsupported_response_type", "The response_type is code."))
    : mode !== "query"
    ? Effect.fail(refuse("invalid_request", "The response_mode is query."))
    : Effect.void
}
