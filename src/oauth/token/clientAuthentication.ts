import { Effect, Option, Redacted } from "effect"
import { isUuid } from "../../domain/JsonShapes.ts"
import { resourceAddress, resources } from "../../domain/oauth/OAuth.ts"
import type { AuthMethod, OAuthConnection, OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { ClientDocuments, OAuthClients, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { isDocumentAddress } from "../ClientDocument.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

interface PresentedCredentials {
  readonly id: string
  readonly method: AuthMethod
  readonly secret: Redacted.Redacted | null
}

const decodeBasic = Option.liftThrowable((encoded: string) => {
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  const colon = text.indexOf(":")
  if (colon === -1) throw new Error("There is no colon")
  const decode = (part: string) => decodeURIComponent(part.replaceAll("+", " "))
  return { id: decode(text.slice(0, colon)), secret: Redacted.make(decode(text.slice(colon + 1))) }
})

/** The credentials of an `Authorization` header of the scheme Basic. */
export const basicOf = (authorization: string) =>
  decodeBasic(/^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1] ?? "")

const unknown = refuse("invalid_client", "The client is unknown, or did not prove who it is.")

/** The request's client credentials, by exactly one method (RFC 6749, section 2.3). */
const presented = Effect.fnUntraced(function*(authorization: string | undefined, parameters: Parameters) {
  const id = parameters.get("client_id")
  const secret = parameters.get("client_secret")
  if (authorization === undefined) {
    if (id === undefined) return yield* unknown
    return {
      id,
      method: secret === undefined ? "none" : "client_secret_post",
      secret: secret === undefined ? null : Redacted.make(secret)
    } satisfies PresentedCredentials
  }
  if (secret !== undefined) {
    return yield* refuse("invalid_request", "The client proves who it is in the header and in the body.")
  }
  const basic = basicOf(authorization)
  if (Option.isNone(basic)) return yield* unknown
  if (id !== undefined && id !== basic.value.id) {
    return yield* refuse("invalid_request", "The header and the body name different clients.")
  }
  return {
    id: basic.value.id,
    method: "client_secret_basic",
    secret: basic.value.secret
  } satisfies PresentedCredentials
})

/** Fails where it gets no tokens: one that a document describes does only while the service reads such documents. */
export const mayHaveTokens = ({ id }: Authenticated) =>
  Effect.flatMap(
    ClientDocuments,
    (documents) => isDocumentAddress(id) && documents === null ? Effect.fail(unknown) : Effect.void
  )

/** The client of a request, at the request's issuer. */
export interface Authenticated {
  readonly id: string
  readonly issuer: OAuthIssuer
}

/** True if the connection is the client's own, made at the same issuer. */
export const owns = ({ id, issuer }: Authenticated, { clientId, resource }: OAuthConnection): boolean =>
  clientId === id && resources.some((each) => resourceAddress(issuer.baseUrl, each) === resource)

/**
 * The client of a request to the token and revocation endpoints, by the method that it registered with. One that is
 * described by a document has no secret: its id is as good as the code or token that comes with it, and nothing is
 * asked for.
 */
export const authenticateClient = Effect.fnUntraced(function*(
  issuer: OAuthIssuer,
  authorization: string | undefined,
  parameters: Parameters
) {
  const claim: PresentedCredentials = yield* presented(authorization, parameters)
  const authenticated: Authenticated = { id: claim.id, issuer }
  if (claim.method === "none" && isDocumentAddress(claim.id)) return authenticated
  if (!isUuid(claim.id)) return yield* unknown
  const client = yield* (yield* OAuthClients).find(issuer.baseUrl, claim.id)
  if (client === null || client.authMethod !== claim.method) return yield* unknown
  if (claim.secret === null) return authenticated
  const digests = (yield* OAuthSecrets).digests(claim.secret)
  return client.secretDigest !== null && digests.includes(client.secretDigest) ? authenticated : yield* unknown
})
