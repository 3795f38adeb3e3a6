import { Clock, Duration, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { RateLimited } from "../../../domain/Failure.ts"
import { addressesRemembered, addressGroup } from "../../../domain/NetworkAddress.ts"
import { registrationsInTotal, registrationsPerAddress, registrationWindow } from "../../../domain/oauth/OAuth.ts"
import type { OAuthClient } from "../../../domain/oauth/OAuthRecords.ts"
import { type NewClient, OAuthClients } from "../../../ports/oauth/OAuthPorts.ts"
import { LruCache } from "../../LruCache.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface Counts {
  readonly total: number
  readonly here: number
  readonly oldest: Date | null
  readonly oldest_here: Date | null
}

/** The outcome of a limit that refuses, and the end of the refusal. */
interface Refusal {
  readonly key: string
  readonly until: number
}

/** The lock while a registration is counted and kept, so that the limits are exact on any number of replicas. */
const registrationLock = 7_142_003

const windowMillis = Duration.toMillis(registrationWindow)

const refuse = (until: number, now: number) => {
  const seconds = Math.max(1, Math.ceil((until - now) / 1000))
  return new RateLimited({
    retry_after: seconds,
    message: `Too many registrations: try again in ${seconds} seconds.`
  })
}

/** The limit that the counts have reached, if they have reached one. */
const reached = (counts: Counts | undefined, ofSite: string, ofAddress: string): Refusal | null => {
  if (counts === undefined) return null
  const { here, oldest, oldest_here, total } = counts
  return here >= registrationsPerAddress && oldest_here !== null
    ? { key: ofAddress, until: oldest_here.getTime() + windowMillis }
    : total >= registrationsInTotal && oldest !== null
    ? { key: ofSite, until: oldest.getTime() + windowMillis }
    : null
}

/**
 * The registrations in SQL; they belong to no organization.
 *
 * What a limit has refused is refused from memory until then, and of a process's registrations one at a time asks the
 * database: however many come, they take one connection.
 */
export const layer = Layer.effect(
  OAuthClients,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const refusals = new LruCache<number>(addressesRemembered)
    const one = Semaphore.makeUnsafe(1)

    const refusedAlready = Effect.fnUntraced(function*(keys: ReadonlyArray<string>) {
      const now = yield* Clock.currentTimeMillis
      for (const key of keys) {
        const until = refusals.get(key, () => 0)
        if (until > now) return yield* refuse(until, now)
        refusals.delete(key)
      }
    })

    const keep = Effect.fnUntraced(function*(
      issuer: string,
      client: NewClient,
      address: string | null,
      [ofSite, ofAddress]: readonly [string, string]
    ) {
      const now = yield* Clock.currentTimeMillis
      const since = new Date(now - windowMillis)
      const refusal = yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
        yield* sql`select pg_advisory_xact_lock(${registrationLock})`
        const [counts] = yield* sql<Counts>`
          select count(*) filter (where issuer = ${issuer}) as total,
            min(created_at) filter (where issuer = ${issuer}) as oldest,
            count(*) filter (where address = ${address}) as here,
            min(created_at) filter (where address = ${address}) as oldest_here
          from oauth_client where created_at > ${since}`
        const refusal = reached(counts, ofSite, ofAddress)
        if (refusal !== null) return refusal
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
      if (refusal !== null) {
        refusals.set(refusal.key, refusal.until)
        return yield* refuse(refusal.until, now)
      }
    })

    return OAuthClients.of({
      find: (issuer, id) =>
        Effect.map(
          Tenant.directory(sql)(sql<OAuthClient>`
            select id, name, redirect_uris as "redirectUris", auth_method as "authMethod",
              secret_digest as "secretDigest"
            from oauth_client where id = ${id} and issuer = ${issuer}`),
          ([client]) => client ?? null
        ),

      register: Effect.fnUntraced(function*(issuer, client) {
        const address = client.address === null ? null : addressGroup(client.address)
        const keys = [`site ${issuer}`, `address ${address}`] as const
        yield* refusedAlready(keys)
        yield* one.withPermit(Effect.andThen(refusedAlready(keys), keep(issuer, client, address, keys)))
      })
    })
  })
)
