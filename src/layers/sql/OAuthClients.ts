import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { addressGroup } from "../../domain/Address.ts"
import { RateLimited } from "../../domain/Failure.ts"
import { registrationsInTotal, registrationsPerAddress, registrationWindow } from "../../domain/OAuth.ts"
import { OAuthClients } from "../../oauth/Ports.ts"
import type { Client } from "../../oauth/Values.ts"
import * as Tenant from "./Tenant.ts"

interface Counts {
  readonly total: number
  readonly here: number
  readonly oldest: Date | null
  readonly oldest_here: Date | null
}

/** What is locked while a registration is counted and kept, so that the limits are exact on any number of replicas. */
const registrationLock = 7_142_003

/** The registrations in SQL; they belong to no organization. */
export const layer = Layer.effect(
  OAuthClients,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return OAuthClients.of({
      find: (issuer, id) =>
        Effect.map(
          Tenant.directory(sql)(sql<Client>`
            select id, name, redirect_uris as "redirectUris", auth_method as "authMethod",
              secret_digest as "secretDigest"
            from oauth_client where id = ${id} and issuer = ${issuer}`),
          ([client]) => client ?? null
        ),

      register: Effect.fnUntraced(function*(issuer, client) {
        const now = yield* Clock.currentTimeMillis
        const address = client.address === null ? null : addressGroup(client.address)
        const since = new Date(now - Duration.toMillis(registrationWindow))
        const refused = yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
          yield* sql`select pg_advisory_xact_lock(${registrationLock})`
          const [counts] = yield* sql<Counts>`
            select count(*) as total, min(created_at) as oldest,
              count(*) filter (where address = ${address}) as here,
              min(created_at) filter (where address = ${address}) as oldest_here
            from oauth_client where created_at > ${since}`
          const waitFor = counts === undefined
            ? null
            : counts.here >= registrationsPerAddress
            ? counts.oldest_here
            : counts.total >= registrationsInTotal
            ? counts.oldest
            : null
          if (waitFor !== null) {
            return Math.max(1, Math.ceil((waitFor.getTime() + Duration.toMillis(registrationWindow) - now) / 1000))
          }
          yield* sql`insert into oauth_client ${
            sql.insert({
              id: client.id,
              issuer,
              name: client.name,
              redirect_uris: client.redirectUris,
              auth_method: client.authMethod,
              secret_digest: client.secret?.digest ?? null,
              pepper_id: client.secret?.pepper_id ?? null,
              address,
              created_at: client.createdAt
            })
          }`
          return null
        })))
        if (refused !== null) {
          return yield* new RateLimited({
            retry_after: refused,
            message: `Too many registrations: try again in ${refused} seconds.`
          })
        }
      })
    })
  })
)
