import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Address from "../../../src/domain/NetworkAddress.ts"
import { LruCache } from "../../../src/layers/LruCache.ts"
import * as Addresses from "../../../src/layers/memory/Addresses.ts"
import { AnonymousRequests, FailedAttempts } from "../../../src/ports/RateLimits.ts"

const start = 1_700_000_000_000

const waitOf = <A>(effect: Effect.Effect<A, { readonly retry_after: number }>) =>
  Effect.match(effect, { onSuccess: () => 0, onFailure: ({ retry_after }) => retry_after })

const token = (name: string) => Redacted.make(`key ${name}`)

const attempts = Effect.map(FailedAttempts, ({ admit, count, right }) => ({
  admit: (address: string, name: string) => waitOf(admit(address, token(name))),
  right: (name: string) => right(token(name)),
  /** A well-formed false credential, as the edge treats it: whether it was looked up. */
  guess: (address: string, name: string) =>
    Effect.gen(function*() {
      if ((yield* waitOf(admit(address, token(name)))) > 0) return false
      yield* waitOf(count(address, token(name)))
      return true
    }),
  garbage: (address: string) => waitOf(count(address, null))
}))

const times = (count: number) => Array.from({ length: count }, (_, at) => at)

describe("wrong credentials of an address", () => {
  layer(Layer.fresh(Addresses.layerFailedAttempts))((it) => {
    it.effect("are looked up 120 times in a minute, if each is another one, and not before one leaves the minute", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const { admit, guess } = yield* attempts
        let looked = 0
        for (const at of times(1000)) {
          yield* TestClock.setTime(start + at * 10)
          if (yield* guess(`2001:db8::${at.toString(16)}`, `a${at}`)) looked += 1
        }
        expect(looked).toBe(Address.failuresPerAddress)
        expect(yield* admit("2001:db8::1", "fresh")).toBe(51)
        expect(yield* admit("2001:db8:0:1::1", "fresh")).toBe(0)
        yield* TestClock.setTime(start + 60_000)
        expect(yield* admit("2001:db8::1", "fresh")).toBe(0)
      }))

    it.effect("do not keep out one that was right here before, until it is wrong itself", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start + 1_000_000)
        const { admit, guess, right } = yield* attempts
        yield* right("good")
        for (const at of times(200)) yield* guess("192.0.2.1", `b${at}`)
        expect(yield* admit("192.0.2.1", "other")).toBeGreaterThan(0)
        expect(yield* admit("192.0.2.1", "good")).toBe(0)
        expect(yield* guess("192.0.2.1", "good")).toBe(true)
        expect(yield* admit("192.0.2.1", "good")).toBeGreaterThan(0)
      }))

    it.effect("that are the same again and again, or have no form, keep out no other one, and cost no more looks", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start + 2_000_000)
        const { admit, garbage, guess } = yield* attempts
        for (const at of times(500)) {
          const wait = yield* garbage("192.0.2.2")
          expect(wait > 0).toBe(at >= Address.failuresPerAddress)
        }
        expect(yield* guess("192.0.2.2", "revoked")).toBe(true)
        for (const at of times(500)) expect([at, yield* guess("192.0.2.2", "revoked")]).toEqual([at, false])
        expect(yield* admit("192.0.2.2", "right, and new here")).toBe(0)
      }))
  })
})

describe("requests without a token from an address", () => {
  layer(Layer.fresh(Addresses.layerAnonymousRequests))((it) => {
    it.effect("are 600 at once and then ten a second, for all of a /64 together", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const { admit } = yield* AnonymousRequests
        const ask = (address: string) => waitOf(admit(address))
        for (const at of times(600)) expect(yield* ask(`2001:db8::${at.toString(16)}`)).toBe(0)
        expect(yield* ask("2001:db8::1")).toBe(1)
        expect(yield* ask("2001:db8:0:1::1")).toBe(0)
        yield* TestClock.adjust("1 second")
        const passed = yield* Effect.forEach(times(15), () => ask("2001:db8::1"))
        expect(passed.filter((wait) => wait === 0).length).toBe(10)
        yield* TestClock.adjust("1 hour")
        for (const at of times(600)) expect([at, yield* ask("2001:db8::1")]).toEqual([at, 0])
        expect(yield* ask("2001:db8::1")).toBe(1)
      }))

    it.effect("are 2,400 in a minute for all of a /48 together, and ten times as many for all of a /32", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start + 10_000_000)
        const { admit } = yield* AnonymousRequests
        const passed = (count: number, address: (at: number) => string) =>
          Effect.map(
            Effect.forEach(times(count), (at) => waitOf(admit(address(at)))),
            (waits) => waits.filter((wait) => wait === 0).length
          )
        expect(yield* passed(3000, (at) => `2001:db8:1:${at.toString(16)}::1`)).toBe(2400)
        expect(yield* passed(1, () => "2001:db8:2::1")).toBe(1)
        expect(yield* passed(25_000, (at) => `2001:db8:${at.toString(16)}::1`)).toBe(24_000 - 2401)
        expect(yield* passed(1, () => "2001:db9::1")).toBe(1)
        expect(yield* passed(1, () => "192.0.2.1")).toBe(1)
      }))
  })
})

describe("what is remembered of many keys", () => {
  it("is bounded, and what was asked for longest ago is forgotten first", () => {
    const remembered = new LruCache<number>(3)
    for (const key of ["a", "b", "c"]) remembered.set(key, 1)
    remembered.get("a", () => 0)
    remembered.set("d", 1)
    expect(["a", "b", "c", "d"].map((key) => remembered.has(key))).toEqual([true, false, true, true])
    for (const at of times(100_000)) remembered.get(String(at), () => at)
    expect(times(100_000).filter((at) => remembered.has(String(at)))).toEqual([99_997, 99_998, 99_999])
  })
})
