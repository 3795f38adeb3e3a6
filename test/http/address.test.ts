import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted, Result, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { ApiKeys } from "../../src/layers/crypto/credentials/ApiKeys.ts"
import { clientAddress } from "../../src/transport/ClientAddress.ts"
import { TrustedProxies } from "../../src/transport/TransportSettings.ts"
import { drawn } from "../support/drawn.ts"
import { postgres } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

const network = (text: string) => Result.getOrThrow(IpNetwork.fromString(text))

const Octet = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
/** An address of a proxy, or one of somebody else. */
const Address = Schema.Struct({ proxy: Schema.Boolean, last: Octet })
const written = ({ last, proxy }: typeof Address.Type) => proxy ? `10.0.0.${last}` : `203.0.113.${last}`
const trusted = [network("10.0.0.0/24"), network("fd00::/8")]

describe("a client's address", () => {
  it.prop(
    "is the right-most one that is no trusted proxy's, or the left-most of all where they all are",
    [Schema.Array(Address).check(Schema.isMaxLength(6)), Address],
    ([forwarded, peer]) => {
      const path = [...forwarded, peer]
      const client = path.findLast(({ proxy }) => !proxy) ?? path[0]!
      expect(clientAddress(written(peer), forwarded.map(written).join(", "), trusted)).toBe(written(client))
    },
    drawn()
  )

  it.prop(
    "is the peer's, whatever the header says, while nobody is trusted or the peer is not",
    [Schema.Array(Schema.Union([Schema.String, Schema.Literals(["10.0.0.1", "::1"])])), Octet],
    ([parts, last]) => {
      const peer = written({ proxy: false, last })
      expect(clientAddress(peer, parts.join(","), trusted)).toBe(peer)
      expect(clientAddress(`10.0.0.${last}`, parts.join(","), [])).toBe(`10.0.0.${last}`)
    },
    drawn()
  )

  it.prop(
    "is never taken from behind something that is no address",
    [Schema.String, Octet],
    ([text, last]) => {
      const address = clientAddress("10.0.0.1", `203.0.113.${last}, ?${text.replaceAll(",", "")}, 10.0.0.2`, trusted)
      expect(address).toBe("10.0.0.2")
    },
    drawn()
  )

  it("is read in any notation of an address, and written in one", () => {
    expect(clientAddress("::ffff:10.0.0.1", "203.0.113.9", trusted)).toBe("203.0.113.9")
    expect(clientAddress("::ffff:203.0.113.9", undefined, trusted)).toBe("203.0.113.9")
    expect(clientAddress("fd00::1", " 2001:DB8:0:0::0001 ", trusted)).toBe("2001:db8::1")
    expect(clientAddress("10.0.0.1", "", trusted)).toBe("10.0.0.1")
    expect(clientAddress("10.0.0.1", undefined, trusted)).toBe("10.0.0.1")
    expect(clientAddress("10.0.0.1", " , ,", trusted)).toBe("10.0.0.1")
    expect(clientAddress("10.0.0.1", "unknown", trusted)).toBe("10.0.0.1")
    expect(clientAddress(null, "203.0.113.9", trusted)).toBeNull()
  })
})

describe("a header of thousands of addresses", () => {
  it("is looked at in its last 32 alone", () => {
    let looked = 0
    const counted = new Proxy(network("10.0.0.0/24"), {
      get: (target, name, receiver) => {
        if (name === "prefixLength") looked += 1
        return Reflect.get(target, name, receiver)
      }
    })
    const forwarded = (count: number) => Array.from({ length: count }, (_, at) => `10.0.0.${at % 256}`).join(",")
    clientAddress("10.0.0.1", forwarded(31), [counted])
    const within = looked
    expect(within).toBeGreaterThan(0)
    expect(clientAddress("10.0.0.1", `203.0.113.9,${forwarded(2047)}`, [counted])).toBe("10.0.0.224")
    expect(looked).toBe(2 * within)
  })
})

/** Asks as a peer with this address would, and answers the status and how long to wait. */
const asking = Effect.gen(function*() {
  const handler = yield* World.peersHandlerHere
  return Effect.fnUntraced(function*(peer: string, key: string, forwardedFor?: string) {
    const request = new Request("http://localhost/v1/organization", {
      headers: {
        host: "localhost",
        authorization: `Bearer ${key}`,
        "x-peer": peer,
        ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor })
      }
    })
    const response = yield* Effect.promise(() => handler(request))
    const body = (yield* Effect.promise(() => response.json())) as { readonly error?: { readonly code: string } }
    return { status: response.status, code: body.error?.code, retryAfter: response.headers.get("retry-after") }
  })
})

describe("wrong credentials from one address", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are answered 401 up to 120 times in a minute, then 429 with the wait, and 401 again after it", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        const askFrom = yield* asking
        for (let attempt = 0; attempt < 120; attempt++) {
          expect((yield* askFrom("192.0.2.1", "wrong")).status).toBe(401)
        }
        yield* TestClock.adjust(20_000)
        expect(yield* askFrom("192.0.2.1", "wrong")).toEqual({ status: 429, code: "rate_limited", retryAfter: "40" })
        expect((yield* askFrom("192.0.2.2", "wrong")).status).toBe(401)
        yield* TestClock.adjust(39_999)
        expect((yield* askFrom("192.0.2.1", "wrong")).status).toBe(429)
        yield* TestClock.adjust(1)
        expect((yield* askFrom("192.0.2.1", "wrong")).status).toBe(401)
      }))

    it.effect("do not keep out a right one, and a right one costs nothing of them", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        const askFrom = yield* asking
        const { admins } = yield* World.makeOrganization()
        for (let attempt = 0; attempt < 130; attempt++) yield* askFrom("192.0.2.3", "wrong")
        expect((yield* askFrom("192.0.2.3", "wrong")).status).toBe(429)
        expect((yield* askFrom("192.0.2.3", Redacted.value(admins.owner.key))).status).toBe(200)
        for (let ask = 0; ask < 100; ask++) yield* askFrom("192.0.2.4", Redacted.value(admins.admin.key))
        expect((yield* askFrom("192.0.2.4", "wrong")).status).toBe(401)
      }))

    it.effect("are refused before the database is asked, once the address has tried too many that have the form", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        const askFrom = yield* asking
        const { make } = yield* ApiKeys
        const { admins } = yield* World.makeOrganization()
        const guess = Effect.flatMap(make, (key) => askFrom("2001:db8:0:9::1", Redacted.value(key)))
        const another = Redacted.value(yield* make)
        const right = Redacted.value(admins.owner.key)
        expect((yield* askFrom("2001:db8:0:9::2", right)).status).toBe(200)
        for (let attempt = 0; attempt < 120; attempt++) expect((yield* guess).status).toBe(401)
        const { answer, said } = yield* recording(Effect.flatMap(asking, (ask) => ask("2001:db8:0:9::1", another)))
        expect([answer, said]).toEqual([{ status: 429, code: "rate_limited", retryAfter: "60" }, []])
        // Whoever was right from here before is served as ever; so is everybody at another address.
        expect((yield* askFrom("2001:db8:0:9::2", right)).status).toBe(200)
        const fresh = Redacted.value(admins.admin.key)
        expect((yield* askFrom("2001:db8:0:9::3", fresh)).status).toBe(429)
        expect((yield* askFrom("2001:db8:0:a::1", fresh)).status).toBe(200)
        expect((yield* askFrom("2001:db8:0:9::3", fresh)).status).toBe(200)
      }))

    it.effect("are counted for the /64 of an IPv6 address, and for an IPv4 address however it is written", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        const askFrom = yield* asking
        for (let attempt = 0; attempt < 120; attempt++) {
          yield* askFrom(`2001:db8:0:7:${attempt.toString(16)}::1`, "wrong")
          yield* askFrom(attempt % 2 === 0 ? "192.0.2.6" : "::ffff:192.0.2.6", "wrong")
        }
        expect((yield* askFrom("2001:db8:0:7::ffff", "wrong")).status).toBe(429)
        expect((yield* askFrom("2001:db8:0:8::1", "wrong")).status).toBe(401)
        expect((yield* askFrom("192.0.2.6", "wrong")).status).toBe(429)
        expect((yield* askFrom("::ffff:192.0.2.7", "wrong")).status).toBe(401)
      }))

    it.effect("are counted for the client behind a trusted proxy, and for the proxy that is not trusted", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        const askFrom = yield* Effect.provideService(asking, TrustedProxies, [network("10.0.0.0/8")])
        const from = (peer: string, client: string) => askFrom(peer, "wrong", client)
        for (let attempt = 0; attempt < 120; attempt++) {
          yield* from("10.0.0.1", "198.51.100.1")
          yield* from("192.0.2.5", `198.51.100.${attempt}`)
        }
        expect((yield* from("10.0.0.2", "198.51.100.1")).status).toBe(429)
        expect((yield* from("10.0.0.1", "198.51.100.2")).status).toBe(401)
        expect((yield* from("192.0.2.5", "198.51.100.200")).status).toBe(429)
      }))
  })
})
