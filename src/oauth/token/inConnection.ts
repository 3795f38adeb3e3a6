import { Effect, Ref, Result } from "effect"
import type { RateLimited, ServiceUnavailable } from "../../domain/Failure.ts"
import type { OAuthConnection } from "../../domain/oauth/OAuthRecords.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import { OAuthGrants, OAuthSecrets } from "../../ports/oauth/OAuthPorts.ts"
import { refuse, type Refused } from "../OAuthRefusal.ts"
import { type Authenticated, owns } from "./clientAuthentication.ts"
import type { IssuedTokens } from "./issue.ts"

/** A refusal without a reason. */
export const invalidGrant = refuse("invalid_grant", "The grant is invalid, expired, used or revoked.")

/** The outcome of a request for tokens. */
export type TokenOutcome = Result.Result<IssuedTokens, Refused | RateLimited>

interface Place {
  readonly organizationId: OrganizationId
  readonly connectionId: string
}

/**
 * Decides within one transaction that holds the connection's row, for a connection of the client that is neither
 * revoked nor its admin disabled nor its organization closed. A closing at the same time need not wait: no token of a
 * closed organization is worth anything, whenever it was issued.
 *
 * A refusal is a value here and fails only after the transaction: one that disconnects has to be kept. When the end of
 * the transaction is not heard, the database is asked whether the new tokens are there: they are answered if so, and
 * otherwise the client's next try starts from where it was.
 */
export const inConnection = Effect.fnUntraced(function*<R>(
  client: Authenticated,
  { connectionId, organizationId }: Place,
  decide: (connection: OAuthConnection) => Effect.Effect<TokenOutcome, never, R>
) {
  const grants = yield* OAuthGrants
  const secrets = yield* OAuthSecrets
  const db = yield* Db
  const made = yield* Ref.make<TokenOutcome>(Result.fail(invalidGrant))
  const recoverOutcome = (away: ServiceUnavailable) =>
    Effect.flatMap(Ref.get(made), (decided) =>
      Result.isFailure(decided) ? Effect.fail(away) : Effect.flatMap(
        grants.isKept(organizationId, connectionId, secrets.digests(decided.success.accessToken)),
        (kept) => kept ? Effect.succeed(decided) : Effect.fail(away)
      ))
  const decided = yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const connection = yield* grants.lock(organizationId, connectionId)
      if (connection === null || !owns(client, connection)) return Result.fail(invalidGrant)
      if (connection.revoked || connection.adminDisabled || connection.organizationClosed) {
        return Result.fail(invalidGrant)
      }
      return yield* Effect.tap(decide(connection), (decided) => Ref.set(made, decided))
    })
  ).pipe(Effect.catchTag("service_unavailable", recoverOutcome))
  return yield* Effect.fromResult(decided)
})
