/** Documents that describe applications, cached for a while and fetched within limits. */
import { Clock, Deferred, Duration, Effect, Exit } from "effect"
import { RateLimited } from "../../domain/Failure.ts"
import { addressesRemembered } from "../../domain/NetworkAddress.ts"
import {
  documentKeptLeast,
  documentKeptMost,
  documentsInTotal,
  documentsPerAdmin,
  documentsRemembered
} from "../../domain/oauth/OAuth.ts"
import type { DocumentReader, DocumentUnread } from "../../ports/oauth/OAuthPorts.ts"
import { LruCache } from "../LruCache.ts"
import * as Https from "./Https.ts"

type DocumentResult = Exit.Exit<unknown, DocumentUnread>

interface KeptDocument {
  readonly read: DocumentResult
  readonly until: number
}

const windowMillis = Duration.toMillis(Duration.minutes(1))
const least = Duration.toMillis(documentKeptLeast)
const most = Duration.toMillis(documentKeptMost)

/** The time that a document is kept by its `Cache-Control`, in milliseconds. */
const keptFor = (cacheControl: string): number => {
  const seconds = /(?:^|,)\s*max-age="?([0-9]{1,9})"?\s*(?:,|$)/i.exec(cacheControl)?.[1]
  return seconds === undefined || /(?:^|,)\s*no-(?:store|cache)\b/i.test(cacheControl)
    ? least
    : Math.min(most, Math.max(least, Number(seconds) * 1000))
}

/** Forgets what is older than a minute; fails where as many remain as are allowed. */
const admit = (times: Array<number>, allowed: number, now: number) => {
  const gone = times.findIndex((at) => at > now - windowMillis)
  times.splice(0, gone === -1 ? times.length : gone)
  const [oldest] = times
  if (oldest === undefined || times.length < allowed) return Effect.void
  const seconds = Math.max(1, Math.ceil((oldest + windowMillis - now) / 1000))
  return Effect.fail(
    new RateLimited({
      retry_after: seconds,
      message: `Too many applications were looked up: try again in ${seconds} seconds.`
    })
  )
}

/**
 * A reader for one process. Each document is fetched once at a time, even if the first request for it has gone, and
 * what could not be read is not fetched again within a minute.
 */
export const make = (outside: Https.Internet = Https.internet): DocumentReader => {
  const kept = new LruCache<KeptDocument>(documentsRemembered)
  const underway = new Map<string, Deferred.Deferred<unknown, DocumentUnread>>()
  const admins = new LruCache<Array<number>>(addressesRemembered)
  const all: Array<number> = []

  const ask = Effect.fnUntraced(function*(address: string, answered: Deferred.Deferred<unknown, DocumentUnread>) {
    const fetched = yield* Effect.exit(Https.read(address, outside))
    const now = yield* Clock.currentTimeMillis
    const read = Exit.map(fetched, ({ body }) => body)
    const lasts = Exit.isSuccess(fetched) ? keptFor(fetched.value.cacheControl) : least
    kept.set(address, { read, until: now + lasts })
    underway.delete(address)
    yield* Deferred.done(answered, read)
  })

  return {
    read: Effect.fnUntraced(function*(address, { adminId, organizationId }) {
      const now = yield* Clock.currentTimeMillis
      const found = kept.peek(address)
      if (found !== undefined && found.until > now) return yield* found.read
      const other = underway.get(address)
      if (other !== undefined) return yield* Deferred.await(other)
      const own = admins.get(`${organizationId} ${adminId}`, () => [])
      yield* admit(own, documentsPerAdmin, now)
      yield* admit(all, documentsInTotal, now)
      own.push(now)
      all.push(now)
      const answered = Deferred.makeUnsafe<unknown, DocumentUnread>()
      underway.set(address, answered)
      yield* Effect.forkDetach(ask(address, answered))
      return yield* Deferred.await(answered)
    })
  }
}
