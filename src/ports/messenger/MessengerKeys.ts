/** The keys of the service's sessions on a platform that is used over its own protocol. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"

/** A value that a session keeps under a name. */
export interface KeptValue {
  readonly value: Redacted.Redacted<Uint8Array>
  /** Counts the writes: a writer passes the count that it has read. */
  readonly version: number
}

/** All that a session keeps. */
export interface KeptSession {
  readonly values: ReadonlyMap<string, KeptValue>
  /** The time when the platform reported that it does not know the session's key. */
  readonly doubtedAt: Date | null
}

/**
 * The state of sessions, sealed at rest under a key of each session.
 *
 * Nothing is deleted but with its session. A write names the version that it replaces, so that a process that has lost
 * the session cannot overwrite what the one that has it now has written.
 */
export class MessengerKeys extends Context.Service<MessengerKeys, {
  /** The state that the session keeps; null where nothing was kept under the reference. */
  load(sessionRef: SessionRef): Effect.Effect<KeptSession | null, ServiceUnavailable>
  /** True if the value was written: not where the version is another one by now. Version 0 writes a new one. */
  save(
    sessionRef: SessionRef,
    name: string,
    value: Redacted.Redacted<Uint8Array>,
    version: number
  ): Effect.Effect<boolean, ServiceUnavailable>
  doubt(sessionRef: SessionRef, at: Date | null): Effect.Effect<void, ServiceUnavailable>
  /** Forgets the session. */
  erase(sessionRef: SessionRef): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/messenger/MessengerKeys") {}
