/** The address at which other processes of the service reach a worker. */
import { Effect, Option } from "effect"
import ipaddr from "ipaddr.js"
import * as os from "node:os"
import * as Environment from "../process/Environment.ts"

export interface ClusterAddress {
  readonly host: string
  readonly port: number
}

/** Ports above are given to outgoing connections. */
const largestPort = 32_767

/** Addresses that nobody reaches over the internet. */
const ranges: ReadonlySet<string> = new Set(["private", "uniqueLocal", "carrierGradeNat", "loopback", "linkLocal"])

const isPrivate = (address: string): boolean => ipaddr.isValid(address) && ranges.has(ipaddr.parse(address).range())

const invalid = (message: string) => new Environment.SettingInvalid({ message })

/** The machine's own private addresses, other than loopback. */
const ownAddresses = (): ReadonlyArray<string> =>
  Object.values(os.networkInterfaces()).flatMap((all) => all ?? []).flatMap(({ address, internal }) =>
    !internal && isPrivate(address) ? [address] : []
  )

const isNetwork = (text: string): boolean => ipaddr.isValidCIDR(text) && isPrivate(text.replace(/\/.*/, ""))

/** Those of the addresses that are in a network; of `auto`, the IPv4 addresses. */
const addressesIn = (network: string, addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const range = network === "auto" ? null : ipaddr.parseCIDR(network)
  return addresses.filter((text) => {
    const address = ipaddr.parse(text)
    return range === null ? address.kind() === "ipv4" : address.kind() === range[0].kind() && address.match(range)
  })
}

/** The address that the setting names; without one, a free port of loopback. */
export const parse = Effect.fnUntraced(function*(setting: Option.Option<string>, addresses = ownAddresses) {
  if (Option.isNone(setting)) return { host: "127.0.0.1", port: 0 } satisfies ClusterAddress
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^\s[\]:]+)):(\d{1,5})$/.exec(setting.value) ?? []
  const port = Number(digits)
  const named = bracketed ?? plain
  if (named === undefined || port < 1 || port > largestPort) {
    return yield* invalid(
      `--cluster-address is an address and a port up to ${largestPort}, such as 10.0.0.7:8090, 10.0.0.0/24:8090 or auto:8090, not ${
        JSON.stringify(setting.value)
      }.`
    )
  }
  if (named !== "auto" && !isNetwork(named)) {
    if (isPrivate(named)) return { host: named, port } satisfies ClusterAddress
    return yield* invalid(`--cluster-address is a private address of this machine, or of its network, not ${named}.`)
  }
  const [own, ...others] = addressesIn(named, addresses())
  if (own !== undefined && others.length === 0) return { host: own, port } satisfies ClusterAddress
  return yield* invalid(
    own === undefined
      ? `--cluster-address ${named} finds no private address of this machine: name it, as 10.0.0.7:8090.`
      : `--cluster-address ${named} finds several addresses: name one of ${[own, ...others].join(", ")}, or a network.`
  )
})
