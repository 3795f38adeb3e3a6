import { Effect } from "effect"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/** No parameter is given twice but `resource`, which has a refusal of its own (RFC 6749, section 3.1). */
export const checkRepetition = ({ repeated }: Parameters) =>
  repeated.some((name) => name !== "resource")
    ? Effect.fail(refuse("invalid_request", "A parameter is given twice."))
    : Effect.void
