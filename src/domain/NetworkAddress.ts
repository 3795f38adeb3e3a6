/** Network addresses, as far as limits count by them. */
import { Duration } from "effect"

/** Wrong credentials that an address may try in a minute. */
export const failuresPerAddress = 120
export const failureWindow = Duration.minutes(1)
/** Requests without a bearer token that an address may send in a minute: of tokens, of registrations and for pages. */
export const requestsPerAddress = 600
/** Requests of the IPv6 network of a customer, a /48, and loosely of that of a provider, a /32. */
export const requestsPerNetwork = 2400
export const requestsPerProvider = 24_000
/** Addresses that a process remembers; then it forgets those that were not seen for longest. */
export const addressesRemembered = 10_000
/** Credentials that a process remembers as right, for addresses that others have tried too much from. */
export const rightCredentialsRemembered = 10_000

const groupsInAll = 8

const hextet = /^[0-9a-f]{1,4}$/
const ipv4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

/** The numbers of a part of an IPv6 address; undefined where one is none. */
const numbers = (part: string): ReadonlyArray<number> | undefined => {
  const read: Array<number> = []
  for (const text of part === "" ? [] : part.split(":")) {
    const bytes = ipv4.exec(text)?.slice(1).map(Number)
    if (bytes !== undefined && bytes.every((byte) => byte < 256)) {
      const [a = 0, b = 0, c = 0, d = 0] = bytes
      read.push(a * 256 + b, c * 256 + d)
    } else if (hextet.test(text)) {
      read.push(Number.parseInt(text, 16))
    } else {
      return undefined
    }
  }
  return read
}

/** The eight numbers of an IPv6 address; undefined for any other text. */
const expand = (address: string): ReadonlyArray<number> | undefined => {
  const [start = "", end, ...more] = address.split("::")
  const first = numbers(start)
  const last = end === undefined ? [] : numbers(end)
  if (first === undefined || last === undefined || more.length > 0) return undefined
  const missing = groupsInAll - first.length - last.length
  if (end === undefined ? missing !== 0 : missing < 1) return undefined
  return [...first, ...Array.from({ length: missing }, () => 0), ...last]
}

const isMapped = (groups: ReadonlyArray<number>): boolean =>
  groups.every((group, at) => at > 5 || group === (at === 5 ? 0xffff : 0))

/** The first groups of an IPv6 address as a network. */
const networkOf = (groups: ReadonlyArray<number>, count: number): string =>
  `${groups.slice(0, count).map((group) => group.toString(16)).join(":")}::/${count * 16}`

/**
 * The groups that an address counts under, the narrowest first: an IPv6 address with the others of its /64, which one
 * subscriber has whole, of the /48, which one customer may have whole, and of the provider's /32; an IPv4 address by
 * itself, and with the others of its /24.
 *
 * An IPv4 address that is written as an IPv6 one counts as itself, and a zone is left out. Any other text is its own
 * group.
 */
const levelsOf = (address: string): readonly [group: string, network?: string, provider?: string] => {
  const groups = address.length > 64 ? undefined : expand(address.toLowerCase().replace(/%.*$/s, ""))
  if (groups !== undefined && !isMapped(groups)) {
    return [networkOf(groups, 4), networkOf(groups, 3), networkOf(groups, 2)]
  }
  const text = groups === undefined
    ? address
    : groups.slice(6).flatMap((group) => [Math.floor(group / 256), group % 256]).join(".")
  return ipv4.test(text) ? [text, `${text.slice(0, text.lastIndexOf("."))}.0/24`] : [text]
}

/** The group that a limit by address counts under. */
export const addressGroup = (address: string): string => levelsOf(address)[0]

/** The network that an address belongs to, for limits of many addresses together: the /24 of IPv4, the /48 of IPv6. */
export const addressNetwork = (address: string): string => {
  const [group, network = group] = levelsOf(address)
  return network
}

/** The /48 and the provider's /32 of an IPv6 address, of which one customer can have whole the first at least. */
export const ipv6Networks = (address: string): readonly [customer: string, provider: string] | null => {
  const [, customer, provider] = levelsOf(address)
  return customer === undefined || provider === undefined ? null : [customer, provider]
}

/** The networks of an address and its group, the widest first: each has a share of what is bounded. */
export const addressShares = (address: string): ReadonlyArray<string> =>
  levelsOf(address).filter((level) => level !== undefined).toReversed()
