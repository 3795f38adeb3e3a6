/** The rate limits of credentials and addresses. */
import { Context, type Effect, type Redacted } from "effect"
import type { RateLimited, ServiceUnavailable } from "../domain/Failure.ts"
import type { RateState } from "../domain/people/Access.ts"

export type { RateState }

/** At most 120 requests in any 60 seconds for each key, exactly; refused requests are not counted. */
export class RateLimiter extends Context.Service<RateLimiter, {
  consume(key: string): Effect.Effect<RateState, RateLimited | ServiceUnavailable>
}>()("org-security-console/ports/RateLimits/RateLimiter") {}

/**
 * The number of wrong credentials that one address may try before it has to wait, as far as this process has seen them.
 *
 * Addresses count by `addressGroup`.
 */
export class FailedAttempts extends Context.Service<FailedAttempts, {
  /**
   * Fails where a well-formed credential is not worth a query of the database: too many different ones from the address
   * were wrong in the last minute, or this one was and there were too many in all. One that was right before is always
   * checked, even if others at the address have failed.
   */
  admit(address: string, token: Redacted.Redacted): Effect.Effect<void, RateLimited>
  /** Remembers that the credential was right. */
  right(token: Redacted.Redacted): Effect.Effect<void>
  /**
   * Counts a wrong credential from the address, null for one that has not even the form of one; fails when there were
   * too many in the last minute.
   */
  count(address: string, token: Redacted.Redacted | null): Effect.Effect<void, RateLimited>
}>()("org-security-console/ports/RateLimits/FailedAttempts") {}

/** The number of requests without a bearer token that one address may send, as far as this process has seen them. */
export class AnonymousRequests extends Context.Service<AnonymousRequests, {
  /** Counts a request from the address; fails when there were too many. */
  admit(address: string): Effect.Effect<void, RateLimited>
}>()("org-security-console/ports/RateLimits/AnonymousRequests") {}
