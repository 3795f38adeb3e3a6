/** The edge's needs of its surroundings. */
import { Context, Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { IpNetwork } from "effect/net"
import type { ServiceUnavailable } from "../domain/Failure.ts"

export { CheckAnswers } from "../kernel/Encoding.ts"

/** The id of the request that is being answered. */
export const RequestId = Context.Reference<string>("org-security-console/transport/TransportSettings/RequestId", {
  defaultValue: () => ""
})

/** A new id of a request. */
export const makeRequestId = ({ ulid }: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> =>
  Effect.map(ulid, (text) => `req_${text.toLowerCase()}`)

/** True if each request leaves a line in the log; off by default, for a host's log is its own. */
export const RequestLines = Context.Reference<boolean>(
  "org-security-console/transport/TransportSettings/RequestLines",
  {
    defaultValue: () => false
  }
)

/** Fails while the service has to wait for its database before it may serve anything. */
export const Readiness = Context.Reference<Effect.Effect<void, ServiceUnavailable>>(
  "org-security-console/transport/TransportSettings/Readiness",
  {
    defaultValue: () => Effect.void
  }
)

/**
 * Whether this process watches the accounts, or waits until it may; where it never does, `none` while no other process
 * does either, although accounts are due.
 */
export type WatchState = "active" | "standby" | "none"
export const Watching = Context.Reference<Effect.Effect<WatchState | null, ServiceUnavailable>>(
  "org-security-console/transport/TransportSettings/Watching",
  { defaultValue: () => Effect.succeed(null) }
)

/** True if the messenger's data centres answered when they were tried last; null if there is no network. */
export type MessengerState = "reached" | "away"
export const MessengerStatus = Context.Reference<Effect.Effect<MessengerState | null>>(
  "org-security-console/transport/TransportSettings/MessengerStatus",
  { defaultValue: () => Effect.succeed(null) }
)

/** The public keys of the journal's checkpoints, as JSON Web Keys; none by default. */
export const JournalKeys = Context.Reference<ReadonlyArray<Readonly<Record<string, string>>>>(
  "org-security-console/transport/TransportSettings/JournalKeys",
  { defaultValue: () => [] }
)

/** The networks whose word about a client's address counts; none by default. */
export const TrustedProxies = Context.Reference<ReadonlyArray<IpNetwork.IpNetwork>>(
  "org-security-console/transport/TransportSettings/TrustedProxies",
  { defaultValue: () => [] }
)
