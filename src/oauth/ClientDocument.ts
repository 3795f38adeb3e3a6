/** Applications whose id is the address of a document that describes them (OAuth Client ID Metadata Document). */
import { Effect, Predicate } from "effect"
import { maxDocumentAddressLength } from "../domain/oauth/OAuth.ts"
import type { OAuthClient } from "../domain/oauth/OAuthRecords.ts"
import { refuse } from "./OAuthRefusal.ts"
import { hostOf, isLoopback } from "./RedirectUri.ts"
import { checkMetadata } from "./registration/metadata.ts"

const label = /^[a-z0-9-]{1,63}$/

/** True if it is a name with a dot in it, and not the number of an address. */
const isName = (host: string): boolean => {
  const labels = host.split(".")
  return labels.length > 1 && labels.every((each) => label.test(each)) && /^[a-z]/.test(labels.at(-1) ?? "")
}

/**
 * True if a client's id is the address of a document: https, a host by its name, a path, and neither user nor fragment,
 * written as a URL parser writes it, so that nothing in it is ambiguous.
 */
export const isDocumentAddress = (id: string): boolean => {
  if (id.length > maxDocumentAddressLength || id.includes("#") || !id.startsWith("https://") || !URL.canParse(id)) {
    return false
  }
  const { hostname, href, password, pathname, username } = new URL(id)
  return href === id && username === "" && password === "" && pathname !== "/" && isName(hostname)
}

/** The application that the document at the address describes, checked like a registration, and for its own host. */
export const describedBy = Effect.fnUntraced(function*(address: string, body: unknown) {
  const { authMethod, name, redirectUris } = yield* checkMetadata(body)
  if (!Predicate.isObject(body) || !("client_id" in body) || body.client_id !== address) {
    return yield* refuse("invalid_client_metadata", "client_id is not the address of the document.")
  }
  if (authMethod !== "none" || "client_secret" in body || "client_secret_expires_at" in body) {
    return yield* refuse("invalid_client_metadata", "token_endpoint_auth_method is none, and there is no secret.")
  }
  if (!redirectUris.every((uri) => isLoopback(uri) || hostOf(uri) === hostOf(address))) {
    return yield* refuse("invalid_redirect_uri", "redirect_uris are on the document's own host or on this machine.")
  }
  return { id: address, name, redirectUris, authMethod, secretDigest: null } satisfies OAuthClient
})
