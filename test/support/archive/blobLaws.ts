/** The laws of stores of objects, which each of them is tried by. */
import { expect } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as crypto from "node:crypto"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"

/** Bytes of an object, each of which says where it is. */
export const objectOf = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, at) => at * 7 + (at >> 8))

/** Parts of 64 KiB and a rest. */
export const inParts = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, part) =>
      bytes.subarray(part * 65_536, (part + 1) * 65_536))
  )

const everything = Number.MAX_SAFE_INTEGER

/** What is not there, whatever its name is. */
export const names = ["../escape", "..", "", "a/b", "%2e%2e", "0".repeat(36), crypto.randomUUID().toUpperCase()]

/** The only version of an object. */
export const only = (blobId: string) => ({ blobId, version: null })

export const laws = Effect.gen(function*() {
  const store = yield* BlobStore
  const get = (id: string, start: number, end: number) => Stream.mkUint8Array(store.get(only(id), { start, end }))
  for (const size of [0, 1, 65_552, 300_000]) {
    const id = crypto.randomUUID()
    const bytes = objectOf(size)
    expect(yield* store.exists(id)).toBe(false)
    yield* store.put(id, size, inParts(bytes))
    expect(yield* store.exists(id)).toBe(true)
    for (const [start, end] of [[0, size], [size, size], [0, Math.min(1, size)], [size >> 1, size]] as const) {
      expect(Buffer.compare(yield* get(id, start, end), bytes.subarray(start, end))).toBe(0)
    }
    const second = yield* Effect.flip(store.put(id, size, inParts(objectOf(size).toReversed())))
    expect(second).toMatchObject({ why: "exists" })
    expect(Buffer.compare(yield* get(id, 0, size), bytes)).toBe(0)
    expect([yield* store.remove(only(id)), yield* store.remove(only(id))]).toEqual([null, null])
    expect([yield* store.exists(id), yield* Effect.map(Effect.flip(get(id, 0, 1)), ({ why }) => why)])
      .toEqual([false, "missing"])
  }
  const failing: ReadonlyArray<readonly [what: string, size: number, bytes: Stream.Stream<Uint8Array, unknown>]> = [
    ["too short", 10, Stream.make(objectOf(9))],
    ["too long", 10, Stream.make(objectOf(5), objectOf(6))],
    ["failing", 10, Stream.concat(Stream.make(objectOf(5)), Stream.fail("away"))]
  ]
  for (const [what, size, bytes] of failing) {
    const id = crypto.randomUUID()
    yield* Effect.flip(store.put(id, size, bytes))
    expect([what, yield* store.exists(id)]).toEqual([what, false])
    yield* Effect.flip(get(id, 0, 1))
    yield* store.put(id, 3, Stream.make(objectOf(3)))
    yield* store.remove(only(id))
  }
  for (const name of names) {
    yield* Effect.flip(store.put(name, 3, Stream.make(objectOf(3))))
    yield* Effect.flip(Stream.runDrain(store.get(only(name), { start: 0, end: everything })))
    expect([name, yield* store.exists(name)]).toEqual([name, false])
    yield* store.remove(only(name))
  }
})
