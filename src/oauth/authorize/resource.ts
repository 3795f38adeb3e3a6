import { Effect } from "effect"
import { resourceAddress, resources } from "../../domain/oauth/OAuth.ts"
import type { OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/** The resource that the token is for: exactly one of the two (RFC 8707). */
export const checkResource = (issuer: OAuthIssuer, parameters: Parameters) => {
  const asked = parameters.all("resource")
  const found = resources.find((resource) => resourceAddress(issuer.baseUrl, resource) === asked[0])
  return asked.length !== 1 || found === undefined
    ? Effect.fail(refuse("invalid_target", "resource is one of the addresses in the protected resource metadata."))
    : Effect.succeed(found)
}
