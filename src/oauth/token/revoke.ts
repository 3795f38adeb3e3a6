import { Clock, Effect, Redacted } from "effect"
import type { ClientOrigin, OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { Db } from "../../ports/Db.ts"
import { OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { recordConnection } from "../ConnectionEntries.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"
import { authenticateClient, owns } from "./clientAuthentication.ts"

/**
 * Disconnects the client's connection by one of its tokens (RFC 7009); for a token that is unknown or another client's
 * nothing happens, and the client gets no error.
 */
export const revoke = Effect.fnUntraced(function*(
  issuer: OAuthIssuer,
  authorization: string | undefined,
  parameters: Parameters,
  origin: ClientOrigin
) {
  if (parameters.repeated.length > 0) return yield* refuse("invalid_request", "A parameter is given twice.")
  const client = yield* authenticateClient(issuer, authorization, parameters)
  const text = parameters.get("token")
  if (text === undefined) return yield* refuse("invalid_request", "token is required.")
  const secrets = yield* OAuthSecrets
  const grants = yield* OAuthGrants
  const secret = Redacted.make(text)
  if (!secrets.isWellFormed("access", secret) && !secrets.isWellFormed("refresh", secret)) return
  const reference = secrets.reference(secret)
  if (reference !== null && reference.expiresAt.getTime() <= (yield* Clock.currentTimeMillis)) return
  const place = yield* reference === null
    ? grants.locate("token", secrets.digests(secret))
    : grants.locateConnection(reference.connectionId)
  if (place === null) return
  const { connectionId, organizationId } = place
  yield* (yield* Db).transaction(
    organizationId,
    Effect.gen(function*() {
      const connection = yield* grants.lock(organizationId, connectionId)
      if (connection === null || !owns(client, connection) || connection.revoked) return
      yield* grants.disconnect(organizationId, connectionId, new Date(yield* Clock.currentTimeMillis))
      yield* recordConnection("ai_connection.revoked", "admin", organizationId, connection, origin)
    })
  )
})
