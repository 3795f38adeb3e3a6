/** Requests that are repeated under a key of the client's, and what they were answered. */
import { Context, type Effect } from "effect"
import type { IdempotencyInProgress, IdempotencyKeyReused, ServiceUnavailable } from "../domain/Failure.ts"
import type { Caller } from "../domain/people/Access.ts"

/** A request as its key names it. */
export interface KeyedRequest {
  readonly caller: Caller["Service"]
  readonly operation: string
  readonly key: string
  /** The request as JSON, without its secrets. */
  readonly input: unknown
}

/** The key of a request that is running; the token is this attempt's alone. */
export interface KeyClaim {
  readonly request: KeyedRequest
  readonly token: string
}

/** The state of a key: its request has to run, or its stored answer. */
export type KeyState =
  | { readonly _tag: "Claimed"; readonly claim: KeyClaim }
  | { readonly _tag: "Answered"; readonly answer: string }

/** Keys by credential and operation; each is kept for a day with an HMAC of its request, and its answer sealed. */
export class IdempotencyKeys extends Context.Service<IdempotencyKeys, {
  /** Claims the key for the request, in a transaction of its own; a claim without an answer is over after a minute. */
  claim(
    request: KeyedRequest
  ): Effect.Effect<KeyState, IdempotencyKeyReused | IdempotencyInProgress | ServiceUnavailable>
  /** The answer that is kept of the request; null where none is. */
  answer(request: KeyedRequest): Effect.Effect<string | null, IdempotencyKeyReused | ServiceUnavailable>
  /** Keeps the answer within the transaction of the change; fails where another attempt has taken the key over. */
  keep(claim: KeyClaim, answer: string): Effect.Effect<void, IdempotencyInProgress>
  /** Abandons a claim without an answer, in a transaction of its own. */
  release(claim: KeyClaim): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/IdempotencyKeys") {}
