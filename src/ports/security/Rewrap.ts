/** Sealing again what is sealed under a pepper that is not the first, or by the host's own key management. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"

/** The number of secrets of each kind. */
export interface RewrapCounts {
  /** The keys of accounts. */
  readonly accounts: number
  /** The keys of sessions on the messenger. */
  readonly sessions: number
  /** The secrets of authenticator apps. */
  readonly authenticator_apps: number
  /** The secrets that the console has at identity providers. */
  readonly identity_providers: number
  /** The proofs of archives' public keys. */
  readonly archive_keys: number
}

/** The number sealed again, and the number left as they are because they do not open. */
export interface Rewrapped extends RewrapCounts {
  /** Its pepper is not given any more. */
  readonly skipped: RewrapCounts
  /** It was changed, or sealed for something else. */
  readonly damaged: RewrapCounts
}

/** Seals everything again in transactions of its own: an interrupted run is continued by the next one. */
export class Rewrap extends Context.Service<Rewrap, {
  readonly all: Effect.Effect<Rewrapped, ServiceUnavailable>
}>()("org-security-console/ports/security/Rewrap") {}
