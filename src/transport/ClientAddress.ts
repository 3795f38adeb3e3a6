/** The origin of a request, behind proxies too. */
import { Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { TrustedProxies } from "./TransportSettings.ts"

/** The address in the text; an IPv4 address that a socket of both families has written as IPv6 is itself again. */
const parse = (text: string) =>
  Option.map(Option.getSuccess(NetAddress.ipFromString(text.trim())), (address) => NetAddress.toCanonical(address))

/**
 * How many peers are remembered as they are written canonically: a connection's is asked for at each of its requests.
 */
const maxKnown = 4096
const known = new Map<string, string>()

/** The address of a peer whose word about others does not count. */
const canonical = (peer: string): string => {
  const remembered = known.get(peer)
  if (remembered !== undefined) return remembered
  const address = Option.match(parse(peer), { onNone: () => peer, onSome: NetAddress.formatIp })
  if (known.size >= maxKnown) known.clear()
  known.set(peer, address)
  return address
}

/** True if the peer is a proxy that the service trusts. */
export const isTrusted = (peer: string, trusted: ReadonlyArray<IpNetwork.IpNetwork>): boolean =>
  Option.exists(parse(peer), (address) => trusted.some((network) => IpNetwork.contains(network, address)))

/** The number of addresses of `X-Forwarded-For` that are read, from its right end: no chain of proxies is longer. */
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
  if (trusted.length === 0) return canonical(peer)
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

/** The address of the request's client. */
export const addressOf = (
  { headers, remoteAddress }: HttpServerRequest.HttpServerRequest,
  trusted: ReadonlyArray<IpNetwork.IpNetwork>
): string | null => clientAddress(Option.getOrNull(remoteAddress), headers["x-forwarded-for"], trusted)

/** The address of the request's client, behind the proxies that the service trusts. */
export const clientOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string | null> =>
  Effect.map(TrustedProxies, (trusted) => addressOf(request, trusted))
