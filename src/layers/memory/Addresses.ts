/**
 * Limits by address and by request, kept in memory: each process counts its own, and what is refused costs no query.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimited } from "../../domain/Failure.ts"
import {
  addressesRemembered,
  addressGroup,
  failuresPerAddress,
  failureWindow,
  ipv6Networks,
  requestsPerAddress,
  requestsPerNetwork,
  requestsPerProvider,
  rightCredentialsRemembered
} from "../../domain/NetworkAddress.ts"
import * as Ports from "../../ports/index.ts"
import { RefusedRefreshes } from "../../ports/oauth/OAuthPorts.ts"
import { fingerprint } from "../crypto/Peppers.ts"
import { LruCache } from "../LruCache.ts"

const minuteMillis = Duration.toMillis(Duration.minutes(1))
const windowMillis = Duration.toMillis(failureWindow)

const refuse = (what: string, millis: number) => {
  const seconds = Math.max(1, Math.ceil(millis / 1000))
  return new RateLimited({
    retry_after: seconds,
    message: `Too many ${what} from this address: try again in ${seconds} seconds.`
  })
}

const wrong = "wrong credentials"

/** The wrong credentials of an address in the last minute: when each came, and the different ones that had the form. */
interface TriedCredentials {
  readonly failures: Array<number>
  readonly unknown: Map<string, number>
}

/** Wrong credentials by address. */
export const layerFailedAttempts = Layer.sync(Ports.FailedAttempts, () => {
  const addresses = new LruCache<TriedCredentials>(addressesRemembered)
  const rights = new LruCache<true>(rightCredentialsRemembered)

  const tried = (address: string, now: number): TriedCredentials => {
    const found = addresses.get(addressGroup(address), () => ({ failures: [], unknown: new Map() }))
    const { failures, unknown } = found
    const gone = failures.findIndex((at) => at > now - windowMillis)
    failures.splice(0, gone === -1 ? failures.length : gone)
    for (const [known, at] of unknown) {
      if (at > now - windowMillis) break
      unknown.delete(known)
    }
    return found
  }
  const until = (oldest: number | undefined, now: number) => refuse(wrong, (oldest ?? now) + windowMillis - now)

  return {
    admit: (address, token) => {
      const known = fingerprint(token)
      if (rights.has(known)) return Effect.void
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const { failures, unknown } = tried(address, now)
        if (unknown.size >= failuresPerAddress) return Effect.fail(until(unknown.values().next().value, now))
        return unknown.has(known) && failures.length >= failuresPerAddress
          ? Effect.fail(until(failures[0], now))
          : Effect.void
      })
    },
    right: (token) => Effect.sync(() => rights.set(fingerprint(token), true)),
    count: Effect.fnUntraced(function*(address, token) {
      const now = yield* Clock.currentTimeMillis
      const { failures, unknown } = tried(address, now)
      if (token !== null) {
        const known = fingerprint(token)
        rights.delete(known)
        unknown.delete(known)
        unknown.set(known, now)
      }
      if (failures.length >= failuresPerAddress) return yield* until(failures[0], now)
      failures.push(now)
    })
  }
})

/** Refreshes by what they were sent with, for a minute at most. */
export const layerRefusedRefreshes = Layer.sync(RefusedRefreshes, () => {
  const refused = new LruCache<{ readonly at: number; readonly until: number }>(addressesRemembered)
  return {
    waits: (request) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const found = refused.peek(fingerprint(request))
        return found === undefined || now >= found.at + minuteMillis
          ? 0
          : Math.max(0, Math.ceil((found.until - now) / 1000))
      }),
    remember: (request, seconds) =>
      Effect.map(
        Clock.currentTimeMillis,
        (now) => refused.set(fingerprint(request), { at: now, until: now + seconds * 1000 })
      )
  }
})

/** Requests without a bearer token by address and IPv6 network: buckets that fill again within a minute. */
export const layerAnonymousRequests = Layer.sync(Ports.AnonymousRequests, () => {
  const buckets = new LruCache<{ left: number; at: number }>(addressesRemembered)

  const bucketOf = (group: string, most: number, now: number) => {
    const bucket = buckets.get(group, () => ({ left: most, at: now }))
    bucket.left = Math.min(most, bucket.left + (now - bucket.at) * most / minuteMillis)
    bucket.at = now
    return { bucket, waits: bucket.left < 1 ? (1 - bucket.left) * minuteMillis / most : 0 }
  }

  return {
    admit: Effect.fnUntraced(function*(address) {
      const now = yield* Clock.currentTimeMillis
      const [customer, provider] = ipv6Networks(address) ?? []
      const found = [
        bucketOf(addressGroup(address), requestsPerAddress, now),
        ...(customer === undefined ? [] : [bucketOf(customer, requestsPerNetwork, now)]),
        ...(provider === undefined ? [] : [bucketOf(provider, requestsPerProvider, now)])
      ]
      const waits = Math.max(...found.map((each) => each.waits))
      if (waits > 0) return yield* refuse("requests", waits)
      for (const { bucket } of found) bucket.left -= 1
    })
  }
})
