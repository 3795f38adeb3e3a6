/** Dynamic client registration (RFC 7591): open to everybody, and worth nothing until an admin grants access. */
import { Clock, Effect } from "effect"
import type { OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { OAuthClients, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { checkMetadata } from "./metadata.ts"

/** Registers the application that the body describes; the secret is answered this once. */
export const register = Effect.fnUntraced(function*(issuer: OAuthIssuer, body: unknown, address: string | null) {
  const metadata = yield* checkMetadata(body)
  const secrets = yield* OAuthSecrets
  const id = yield* secrets.newId
  const secret = metadata.authMethod === "none" ? null : yield* secrets.make("client")
  const createdAt = new Date(yield* Clock.currentTimeMillis)
  yield* (yield* OAuthClients).register(issuer.baseUrl, {
    id,
    ...metadata,
    secret: secret === null ? null : secrets.digest(secret),
    createdAt,
    address
  })
  return { id, ...metadata, secret, createdAt }
})
