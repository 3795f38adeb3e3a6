import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { addressGroup, addressNetwork, addressShares, ipv6Networks } from "../../src/domain/NetworkAddress.ts"
import { drawn } from "../support/drawn.ts"

const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))
const Ipv6 = Schema.Tuple([Group, Group, Group, Group, Group, Group, Group, Group])
const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Ipv4 = Schema.Tuple([Byte, Byte, Byte, Byte])

const written = (groups: ReadonlyArray<number>) => groups.map((group) => group.toString(16)).join(":")

describe("the group of an address", () => {
  it.prop("is one for a /64, however its addresses are written, and another one beside it", [Ipv6], ([groups]) => {
    // A text of its own: the mapped addresses of IPv4 begin with zeros alone.
    const address = [groups[0] | 1, ...groups.slice(1)]
    const group = addressGroup(written(address))
    assert.strictEqual(group, `${written(address.slice(0, 4))}::/64`)
    assert.strictEqual(addressGroup(`${written(address.slice(0, 4))}::1`), group)
    assert.strictEqual(addressGroup(written(address).toUpperCase()), group)
    assert.strictEqual(addressGroup(address.map((part) => part.toString(16).padStart(4, "0")).join(":")), group)
    assert.strictEqual(addressGroup(`${written(address)}%eth0`), group)
    const [a = 0, b = 0, c = 0, d = 0, ...host] = address
    assert.notStrictEqual(addressGroup(written([a, b, c, d ^ 1, ...host])), group)
  }, drawn())

  it.prop("of an IPv4 address is the address, as itself and written as IPv6", [Ipv4], ([bytes]) => {
    const text = bytes.join(".")
    const [a, b, c, d] = bytes
    for (
      const one of [text, `::ffff:${text}`, `0:0:0:0:0:FFFF:${text}`, `::ffff:${written([a * 256 + b, c * 256 + d])}`]
    ) {
      assert.strictEqual(addressGroup(one), text)
    }
  }, drawn())

  it("is part of a network: the /24 of IPv4, the /48 of IPv6, and any other text itself", () => {
    const networks = ["192.0.2.7", "::ffff:192.0.2.200", "2001:db8:1:2::1", "2001:db8:1:ffff::", "::1", "nowhere"]
    assert.deepStrictEqual(networks.map(addressNetwork), [
      "192.0.2.0/24",
      "192.0.2.0/24",
      "2001:db8:1::/48",
      "2001:db8:1::/48",
      "0:0:0::/48",
      "nowhere"
    ])
  })

  it("has a share in each of its networks, the widest first, and IPv6 networks of a customer and a provider", () => {
    assert.deepStrictEqual(addressShares("2001:db8:1:2::1"), ["2001:db8::/32", "2001:db8:1::/48", "2001:db8:1:2::/64"])
    assert.deepStrictEqual(addressShares("::ffff:192.0.2.7"), ["192.0.2.0/24", "192.0.2.7"])
    assert.deepStrictEqual(addressShares("nowhere"), ["nowhere"])
    assert.deepStrictEqual(ipv6Networks("2001:db8:1:2::1"), ["2001:db8:1::/48", "2001:db8::/32"])
    for (const text of ["192.0.2.7", "::ffff:192.0.2.7", "nowhere"]) assert.isNull(ipv6Networks(text))
  })

  it("is read by the places of the zeros that are left out", () => {
    assert.strictEqual(addressGroup("::"), "0:0:0:0::/64")
    assert.strictEqual(addressGroup("::1"), "0:0:0:0::/64")
    assert.strictEqual(addressGroup("2001:db8::1"), "2001:db8:0:0::/64")
    assert.strictEqual(addressGroup("2001:db8:0:1::"), "2001:db8:0:1::/64")
    assert.strictEqual(addressGroup("1::2:3:4:5:6:7"), "1:0:2:3::/64")
    assert.strictEqual(addressGroup("64:ff9b::192.0.2.1"), "64:ff9b:0:0::/64")
  })

  it("of any other text is the text", () => {
    for (
      const text of [
        "",
        "unknown",
        "192.0.2.256",
        "1:2:3",
        "1::2::3",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4::5:6:7:8",
        ":1:2:3:4:5:6:7",
        "g::1",
        "::ffff:192.0.2.999",
        ":".repeat(10_000)
      ]
    ) assert.strictEqual(addressGroup(text), text)
  })
})
