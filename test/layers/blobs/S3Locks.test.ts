import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import type { S3Lock } from "../../../src/layers/blobs/S3Blobs.ts"
import { BlobStore, type StoredObject } from "../../../src/ports/archive/BlobStore.ts"
import { inParts, objectOf, only } from "../../support/archive/blobLaws.ts"
import { makeS3Server, type S3Server } from "../../support/s3/s3Server.ts"
import { key, storeAt, withStore } from "../../support/s3/s3Stores.ts"

const begun = Date.UTC(2026, 1, 28)
const week: S3Lock = { mode: "compliance", amount: 7, unit: "day" }
const ended = new Date(begun + 7 * 24 * 60 * 60 * 1000)

const small = objectOf(1000)
/** Two parts and a rest. */
const large = Buffer.alloc(17 * 1024 * 1024, objectOf(65_537))

const put = Effect.fnUntraced(function*(bytes: Uint8Array) {
  const blobId = crypto.randomUUID()
  const stored = yield* (yield* BlobStore).put(blobId, bytes.length, inParts(bytes))
  return { blobId, ...stored }
})

const read = (object: StoredObject, end: number) =>
  Stream.mkUint8Array(Stream.unwrap(Effect.map(BlobStore, (store) => store.get(object, { start: 0, end }))))

const remove = (object: StoredObject) => Effect.flatMap(BlobStore, (store) => store.remove(object))

const locked = (what: string, test: (server: S3Server) => Effect.Effect<void, unknown, BlobStore>) =>
  it.effect(what, () => Effect.andThen(TestClock.setTime(begun), withStore(test, week)))

describe("objects under Object Lock", () => {
  for (const [size, bytes] of [["small", small], ["large", large]] as const) {
    locked(
      `are locked from their put on, and removed with their version once the lock has ended: ${size} ones`,
      (server) =>
        Effect.gen(function*() {
          const object = yield* put(bytes)
          expect(object).toMatchObject({ lockedUntil: ended })
          expect(server.versions.map(({ id, lock }) => ({ id, lock })))
            .toEqual([{ id: object.version, lock: { mode: "COMPLIANCE", until: Number(ended) } }])
          yield* TestClock.adjust("6 days")
          for (const known of [object, only(object.blobId)]) expect(yield* remove(known)).toEqual(ended)
          expect(Buffer.compare(yield* read(object, bytes.length), bytes)).toBe(0)
          expect(server.requests.filter((one) => one.startsWith("DELETE"))).toEqual([])
          yield* TestClock.adjust("1 day")
          expect(yield* remove(object)).toBe(null)
          expect([server.versions.length, yield* remove(object)]).toEqual([0, null])
        })
    )
  }

  locked("are removed without a known version too, once their lock has ended", (server) =>
    Effect.gen(function*() {
      const { blobId } = yield* put(small)
      yield* TestClock.adjust("7 days")
      expect([yield* remove(only(blobId)), server.versions]).toEqual([null, []])
    }))

  locked(
    "are read and removed by their versions, whatever the bucket's key hides them behind",
    (server) =>
      Effect.gen(function*() {
        const object = yield* put(small)
        yield* Effect.provide(remove(only(object.blobId)), storeAt(server))
        expect(server.versions).toMatchObject([{ isMarker: false }, { isMarker: true }])
        expect(yield* (yield* BlobStore).exists(object.blobId)).toBe(false)
        expect(yield* read(object, 1000)).toEqual(small)
        yield* TestClock.adjust("7 days")
        expect(yield* remove(object)).toBe(null)
        expect(server.versions).toMatchObject([{ isMarker: true }])
      })
  )

  locked("are found by their names where the bucket has other versions of them", (server) =>
    Effect.gen(function*() {
      const { blobId } = yield* put(small)
      for (const version of ["of-another-store", crypto.randomUUID()]) {
        const moved = { blobId, version }
        expect(yield* read(moved, 1000)).toEqual(small)
        expect(yield* remove(moved)).toEqual(ended)
      }
      yield* TestClock.adjust("7 days")
      expect([yield* remove({ blobId, version: "of-another-store" }), server.versions]).toEqual([null, []])
    }))

  locked("that somebody holds are asked for again a day later", (server) =>
    Effect.gen(function*() {
      const object = yield* put(small)
      for (const version of server.versions) version.isHeld = true
      yield* TestClock.adjust("7 days")
      expect(yield* remove(object)).toEqual(new Date(Number(ended) + 24 * 60 * 60 * 1000))
      for (const version of server.versions) version.isHeld = false
      expect(yield* remove(object)).toBe(null)
    }))

  locked(
    "stay where a later step of their put fails, and no version of a half one does",
    (server) =>
      Effect.gen(function*() {
        const store = yield* BlobStore
        const failing = Stream.concat(inParts(large.subarray(0, 9_000_000)), Stream.fail("away"))
        expect(yield* Effect.flip(store.put(crypto.randomUUID(), large.length, failing))).toBe("away")
        expect([server.versions.length, server.uploads.size]).toEqual([0, 0])
        const { blobId } = yield* put(small)
        expect(yield* Effect.flip(store.put(blobId, 1000, inParts(small)))).toMatchObject({ why: "exists" })
        expect(server.versions).toHaveLength(1)
      })
  )

  locked("that were stored before there was a lock are removed with their version", (server) =>
    Effect.gen(function*() {
      const { blobId, ...stored } = yield* Effect.provide(put(small), storeAt(server))
      expect(stored).toEqual({ version: null, lockedUntil: null })
      expect([yield* remove(only(blobId)), server.versions]).toEqual([null, []])
    }))

  it.effect("end by calendar years, never earlier", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2028, 1, 29, 12))
      const years: S3Lock = { mode: "governance", amount: 2, unit: "year" }
      const object = yield* withStore(() => put(small), years)
      expect(object.lockedUntil).toEqual(new Date(Date.UTC(2030, 2, 1, 12)))
    }))

  it.effect("are not stored in a bucket without it, and once the bucket has it, it is asked for no more", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* TestClock.setTime(begun)
      const without = yield* makeS3Server("files", key)
      const refused = yield* Effect.provide(Effect.flip(put(small)), storeAt(without, { lock: week }))
      expect([refused.why, refused.reason]).toEqual([
        "unavailable",
        "The bucket has no Object Lock, which CONSOLE_BLOBS_LOCK needs"
      ])
      expect([without.versions, without.requests]).toEqual([[], ["GET /files?object-lock="]])
      const withIt = yield* makeS3Server("files", key, { hasLocks: true })
      yield* Effect.provide(Effect.andThen(put(small), put(small)), storeAt(withIt, { lock: week }))
      expect(withIt.requests.filter((one) => one.startsWith("GET"))).toHaveLength(1)
      const elsewhere = yield* makeS3Server("other", key, { hasLocks: true })
      const unknown = yield* Effect.provide(Effect.flip(put(small)), storeAt(elsewhere, { lock: week }))
      expect(unknown.reason)
        .toBe("The store does not say if the bucket has Object Lock: the store answered 404 NoSuchBucket")
      const denied = yield* Effect.provide(Effect.flip(put(small)), storeAt(withIt, { lock: week, secret: "another" }))
      expect(denied.reason)
        .toBe("The store does not say if the bucket has Object Lock: the store answered 403 SignatureDoesNotMatch")
    })))
})
