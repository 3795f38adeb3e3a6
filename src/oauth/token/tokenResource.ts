import { Result } from "effect"
import type { OAuthConnection } from "../../domain/oauth/OAuthRecords.ts"
import { refuse, type Refused } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/** A token request may name the resource, and then it is the one that was granted (RFC 8707, section 2.2). */
export const checkTarget = (parameters: Parameters, connection: OAuthConnection): Result.Result<void, Refused> =>
  parameters.all("resource").every((asked) => asked === connection.resource)
    ? Result.succeed(undefined)
    : Result.fail(refuse("invalid_target", "resource is not the one that was granted."))
