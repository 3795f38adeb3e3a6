/** The public and the special addresses (the registries of IANA). */
import ipaddr from "ipaddr.js"

/** The public range; everything else in IPv6 is special. */
const global = ipaddr.parseCIDR("2000::/3")

/**
 * Whether the address is any but a plain one of the internet: private, of this machine or link, for many, reserved, or
 * an IPv4 address in the form of an IPv6 one, which a translator on the way might lead anywhere.
 */
export const isSpecial = (address: string): boolean => {
  if (!ipaddr.isValid(address) || address.includes("%")) return true
  const parsed = ipaddr.parse(address)
  return parsed.range() !== "unicast" || (parsed.kind() === "ipv6" && !parsed.match(global))
}

/** Private networks, which an operator may allow. */
const own: ReadonlySet<string> = new Set(["private", "uniqueLocal", "carrierGradeNat"])

/** True if the address is neither a plain one of the internet nor one of a private network. */
export const isSpecialAtHome = (address: string): boolean =>
  isSpecial(address) && !(ipaddr.isValid(address) && !address.includes("%") && own.has(ipaddr.parse(address).range()))
