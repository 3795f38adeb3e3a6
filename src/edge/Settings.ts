/** What the edge needs to know of its surroundings. */
import { Context, Effect, Option } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import type { ServiceUnavailable } from "../domain/Failure.ts"

/** The id of the request that is being answered. */
export const RequestId = Context.Reference<string>("org-security-console/edge/Settings/RequestId", {
  defaultValue: () => ""
})

/** Whether each request leaves a line in the log; off unless told, for a host's log is its own. */
export const RequestLines = Context.Reference<boolean>("org-security-console/edge/Settings/RequestLines", {
  defaultValue: () => false
})

/** Fails while the service has to wait for its database before it may serve anything. */
export const Gate = Context.Reference<Effect.Effect<void, ServiceUnavailable>>(
  "org-security-console/edge/Settings/Gate",
  {
    defaultValue: () => Effect.void
  }
)

/** The public keys of the journal's checkpoints, as JSON Web Keys; none unless told. */
export const JournalKeys = Context.Reference<ReadonlyArray<Readonly<Record<string, string>>>>(
  "org-security-console/edge/Settings/JournalKeys",
  { defaultValue: () => [] }
)

/** The networks whose word about a client's address counts; none unless told. */
export const TrustedProxies = Context.Reference<ReadonlyArray<IpNetwork.IpNetwork>>(
  "org-security-console/edge/Settings/TrustedProxies",
  { defaultValue: () => [] }
)

/** The address in the text; an IPv4 address that a socket of both families has written as IPv6 is itself again. */
const parse = (text: string) =>
  Option.map(Option.getSuccess(NetAddress.ipFromString(text.trim())), (address) => NetAddress.toCanonical(address))

/** How many addresses of `X-Forwarded-For` are looked at, from its right end: no chain of proxies is longer. */
const maxHops = 32

/**
 * The client's address: the peer's, or, while the peer is a trusted proxy, the right-most address of `X-Forwarded-For`
 * that is not one.
 */
export const clientAddress = (
  peer: string | null,
  forwardedFor: string | undefined,
  trusted: ReadonlyArray<IpNetwork.IpNetwork>
): string | null => {
  if (peer === null) return null
  const path = [...(forwardedFor ?? "").split(",").filter((part) => part.trim() !== ""), peer].slice(-maxHops)
  let address = peer
  while (path.length > 0) {
    const next = parse(path.pop() ?? "")
    if (Option.isNone(next)) return address
    address = NetAddress.formatIp(next.value)
    if (!trusted.some((network) => IpNetwork.contains(network, next.value))) return address
  }
  return address
}
