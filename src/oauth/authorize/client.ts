import { Effect, Schema } from "effect"
import type { Parameters } from "../Parameters.ts"
import { OAuthClients } from "../Ports.ts"
import { matches } from "../RedirectUri.ts"
import { type Issuer, isUuid } from "../Values.ts"
import type { Identified } from "./Request.ts"

/** A request that names no application or address that is known here: a page tells the person, and nothing is sent. */
export class UnknownClient extends Schema.TaggedError<UnknownClient>()("UnknownClient", {
  reason: Schema.Literals(["client_id", "redirect_uri"])
}) {}

/** The application and the address that its code goes to; these come first, and their failure is never a redirect. */
export const identify = Effect.fnUntraced(function*(issuer: Issuer, parameters: Parameters) {
  const clientId = parameters.get("client_id")
  if (clientId === undefined || !isUuid(clientId) || parameters.repeated.includes("client_id")) {
    return yield* new UnknownClient({ reason: "client_id" })
  }
  const client = yield* (yield* OAuthClients).find(issuer.baseUrl, clientId)
  if (client === null) return yield* new UnknownClient({ reason: "client_id" })
  const [only, ...others] = client.redirectUris
  const asked = parameters.get("redirect_uri") ?? (others.length === 0 ? only : undefined)
  if (
    asked === undefined || parameters.repeated.includes("redirect_uri") ||
    !client.redirectUris.some((registered) => matches(registered, asked))
  ) {
    return yield* new UnknownClient({ reason: "redirect_uri" })
  }
  const state = parameters.repeated.includes("state") ? undefined : parameters.get("state")
  return { issuer, client, redirectUri: asked, parameters, state } satisfies Identified
})
