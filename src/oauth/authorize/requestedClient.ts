import { Effect, Option, Schema } from "effect"
import { isUuid } from "../../domain/JsonShapes.ts"
import type { OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { ClientDocuments, OAuthClients } from "../../ports/oauth/OAuthPorts.ts"
import type { SignedIn } from "../../ports/signin/ConsoleSessions.ts"
import { describedBy, isDocumentAddress } from "../ClientDocument.ts"
import type { Parameters } from "../Parameters.ts"
import { hostOf, matches } from "../RedirectUri.ts"
import type { IdentifiedRequest } from "./Request.ts"

/** The request's application or redirect address is unknown: a page says so, and nothing is sent to it. */
export class UnknownClient extends Schema.TaggedError<UnknownClient>()("UnknownClient", {
  reason: Schema.Literals(["client_id", "document", "redirect_uri"])
}) {}

/** A document's host is not contacted before an admin is signed in. */
class SignInFirst extends Schema.TaggedError<SignInFirst>()("SignInFirst", { host: Schema.String }) {}

const described = Effect.fnUntraced(function*(address: string, admin: Option.Option<SignedIn>) {
  const documents = yield* ClientDocuments
  if (documents === null) return null
  if (Option.isNone(admin)) return yield* new SignInFirst({ host: hostOf(address) })
  return yield* Effect.flatMap(documents.read(address, admin.value), (body) => describedBy(address, body)).pipe(
    Effect.catchTag(["DocumentUnread", "Refused"], () => Effect.fail(new UnknownClient({ reason: "document" })))
  )
})

const registered = (issuer: OAuthIssuer, id: string) =>
  Effect.flatMap(OAuthClients, (clients) => clients.find(issuer.baseUrl, id))

/** The application and the address that its code goes to; these come first, and their failure is never a redirect. */
export const identify = Effect.fnUntraced(
  function*(issuer: OAuthIssuer, parameters: Parameters, admin: Option.Option<SignedIn>) {
    const clientId = parameters.get("client_id")
    if (clientId === undefined || parameters.repeated.includes("client_id")) {
      return yield* new UnknownClient({ reason: "client_id" })
    }
    const client = isUuid(clientId)
      ? yield* registered(issuer, clientId)
      : isDocumentAddress(clientId)
      ? yield* described(clientId, admin)
      : null
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
    return { issuer, client, redirectUri: asked, parameters, state } satisfies IdentifiedRequest
  }
)
