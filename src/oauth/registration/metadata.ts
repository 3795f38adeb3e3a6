import { Effect, Predicate, Schema } from "effect"
import { shownName } from "../../domain/oauth/ClientName.ts"
import { maxClientNameLength, maxRedirectUris } from "../../domain/oauth/OAuth.ts"
import { AuthMethod } from "../../domain/oauth/OAuthRecords.ts"
import { refuse } from "../OAuthRefusal.ts"
import { isAcceptable } from "../RedirectUri.ts"

/** The client metadata (RFC 7591, section 2) that is used here. */
export interface Metadata {
  readonly name: string
  readonly redirectUris: ReadonlyArray<string>
  readonly authMethod: AuthMethod
}

const unnamed = "Unnamed application"

/** Characters that no name needs and that make it resemble another: controls, and what turns the direction of text. */
const misleading = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/u

const isStrings = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every(Predicate.isString)

const isAuthMethod = Schema.is(AuthMethod)

const within = (value: unknown, allowed: ReadonlyArray<string>, needed: string): boolean =>
  value === undefined || (isStrings(value) && value.includes(needed) && value.every((item) => allowed.includes(item)))

/** Checks the metadata; members that are not known here are ignored. */
export const checkMetadata = Effect.fnUntraced(function*(body: unknown) {
  if (!Predicate.isObject(body) || Array.isArray(body)) {
    return yield* refuse("invalid_client_metadata", "The metadata is not a JSON object.")
  }
  const metadata: { readonly [name: string]: unknown } = { ...body }
  const uris = metadata["redirect_uris"]
  if (!isStrings(uris) || uris.length === 0 || uris.length > maxRedirectUris || !uris.every(isAcceptable)) {
    return yield* refuse(
      "invalid_redirect_uri",
      `redirect_uris are 1 to ${maxRedirectUris} addresses that begin with https://, http://localhost or http://127.0.0.1.`
    )
  }
  const method = metadata["token_endpoint_auth_method"] ?? "client_secret_basic"
  if (!isAuthMethod(method)) {
    return yield* refuse("invalid_client_metadata", "token_endpoint_auth_method is not supported.")
  }
  if (!within(metadata["grant_types"], ["authorization_code", "refresh_token"], "authorization_code")) {
    return yield* refuse("invalid_client_metadata", "grant_types are authorization_code and refresh_token.")
  }
  if (!within(metadata["response_types"], ["code"], "code")) {
    return yield* refuse("invalid_client_metadata", "The response_type is code.")
  }
  const name = metadata["client_name"] ?? unnamed
  if (
    !Predicate.isString(name) || !name.isWellFormed() || [...name].length > maxClientNameLength ||
    misleading.test(name)
  ) {
    return yield* refuse("invalid_client_metadata", `client_name is text of at most ${maxClientNameLength} characters.`)
  }
  if (name.trim() !== "" && shownName(name) === null) {
    return yield* refuse("invalid_client_metadata", "client_name has no visible character.")
  }
  return {
    name: name.normalize("NFC").trim() || unnamed,
    redirectUris: uris,
    authMethod: method
  } satisfies Metadata
})
