import { Effect, Result } from "effect"
import type { OrganizationId } from "../../domain/Access.ts"
import { Db } from "../../operations/Ports.ts"
import { OAuthGrants } from "../Ports.ts"
import { refuse, type Refused } from "../Refused.ts"
import type { Client, Connection } from "../Values.ts"

/** Where a refusal says nothing about why. */
export const invalidGrant = refuse("invalid_grant", "The grant is invalid, expired, used or revoked.")

/**
 * Decides within one transaction that holds the connection's row, for a connection of the client that is neither revoked
 * nor its admin disabled.
 *
 * A refusal is a value here and fails only after the transaction: one that disconnects has to be kept.
 */
export const inConnection = <A, R>(
  client: Client,
  place: { readonly organizationId: OrganizationId; readonly connectionId: string },
  decide: (connection: Connection) => Effect.Effect<Result.Result<A, Refused>, never, R>
) =>
  Effect.gen(function*() {
    const grants = yield* OAuthGrants
    const db = yield* Db
    const decided = yield* db.transaction(
      place.organizationId,
      Effect.gen(function*() {
        const connection = yield* grants.lock(place.organizationId, place.connectionId)
        return connection === null || connection.clientId !== client.id || connection.revoked ||
            connection.adminDisabled
          ? Result.fail(invalidGrant)
          : yield* decide(connection)
      })
    )
    return yield* Effect.fromResult(decided)
  })
