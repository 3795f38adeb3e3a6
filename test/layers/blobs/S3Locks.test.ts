import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import type { S3Lock } from "../../../src/layers/blobs/S3Blobs.ts"
import { BlobStore, type StoredObject } from "../../../src/ports/archive/BlobStore.ts"
import { inParts, objectOf, only } from "../../support/archive/blobLaws.ts"
import { type Fault, makeS3Server, type S3Server } from "../../support/s3/s3Server.ts"
import { hide, key, storeAt, withStore } from "../../support/s3/s3Stores.ts"

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

/** An object as its lock keeps it. */
const keptOf = ({ version }: StoredObject, lockedUntil = ended) => ({ version, lockedUntil })

const locked = (what: string, test: (server: S3Server) => Effect.Effect<void, unknown, BlobStore>) =>
  it.effect(what, () => Effect.andThen(TestClock.setTime(begun), withStore(test, week)))

/** Puts an object, before whose last step the store begins to fail. */
const putFailing = Effect.fnUntraced(function*(
  server: S3Server,
  bytes: Uint8Array,
  faults: ReadonlyArray<readonly [method: string, fault: Fault]>
) {
  const blobId = crypto.randomUUID()
  const begins = Stream.fromEffectDrain(Effect.sync(() => void server.faults.push(...faults)))
  const stored = (yield* BlobStore).put(blobId, bytes.length, Stream.concat(inParts(bytes), begins))
  return { blobId, stored: yield* Effect.exit(stored) }
})

const times = (count: number, method: string, fault: Fault) =>
  Array.from({ length: count }, () => [method, fault] as const)

describe("objects under Object Lock", () => {
  for (const [size, bytes] of [["small", small], ["large", large]] as const) {
    locked(
      `are locked from their put on, and removed with their version once the lock has ended: ${size} ones`,
      (server) =>
        Effect.gen(function*() {
          const object = yield* put(bytes)
          expect(object).toMatchObject({ lockedUntil: ended })
          expect(server.requests.filter((one) => one.startsWith("HEAD"))).toEqual([])
          expect(server.versions.map(({ id, lock }) => ({ id, lock })))
            .toEqual([{ id: object.version, lock: { mode: "COMPLIANCE", until: Number(ended) } }])
          yield* TestClock.adjust("6 days")
          for (const known of [object, only(object.blobId)]) expect(yield* remove(known)).toEqual(keptOf(object))
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
        yield* hide(server, object.blobId)
        expect(server.versions).toMatchObject([{ isMarker: false }, { isMarker: true }])
        expect(yield* (yield* BlobStore).exists(object.blobId)).toBe(false)
        expect(yield* read(object, 1000)).toEqual(small)
        yield* TestClock.adjust("7 days")
        expect(yield* remove(object)).toBe(null)
        expect(server.versions).toMatchObject([{ isMarker: true }])
      })
  )

  locked(
    "are kept and removed by a store without a lock too, with and without a known version",
    (server) =>
      Effect.gen(function*() {
        const [known, unknown] = [yield* put(small), yield* put(small)]
        const removals = Effect.forEach([known, only(unknown.blobId)], remove).pipe(Effect.provide(storeAt(server)))
        expect(yield* removals).toEqual([keptOf(known), keptOf(unknown)])
        yield* hide(server, known.blobId)
        expect(yield* Effect.provide(read(known, 1000), storeAt(server))).toEqual(small)
        yield* TestClock.adjust("7 days")
        expect(yield* removals).toEqual([null, null])
        expect(server.versions).toMatchObject([{ name: `console/${known.blobId}`, isMarker: true }])
      })
  )

  locked("differ from others of the bucket, which a store without a lock hides", (server) =>
    Effect.gen(function*() {
      const object = yield* put(small)
      expect([object, yield* remove(object)]).toMatchObject([{ version: null, lockedUntil: null }, null])
      expect(server.versions).toMatchObject([{ isMarker: false }, { isMarker: true }])
    }).pipe(Effect.provide(storeAt(server))))

  locked("are found by their names where the bucket has other versions of them", (server) =>
    Effect.gen(function*() {
      const object = yield* put(small)
      const { blobId } = object
      for (const version of ["of-another-store", crypto.randomUUID()]) {
        const moved = { blobId, version }
        expect(yield* read(moved, 1000)).toEqual(small)
        expect(yield* remove(moved)).toEqual(keptOf(object))
      }
      yield* TestClock.adjust("7 days")
      expect([yield* remove({ blobId, version: "of-another-store" }), server.versions]).toEqual([null, []])
    }))

  locked("that somebody holds are asked for again a day later", (server) =>
    Effect.gen(function*() {
      const object = yield* put(small)
      for (const version of server.versions) version.isHeld = true
      yield* TestClock.adjust("7 days")
      expect(yield* remove(object)).toEqual(keptOf(object, new Date(Number(ended) + 24 * 60 * 60 * 1000)))
      for (const version of server.versions) version.isHeld = false
      expect(yield* remove(object)).toBe(null)
    }))

  locked(
    "are not stored where their bytes fail or another one is there",
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

  it.live("are stored once, with their version known, whatever is not answered, refused or cut", () =>
    withStore((server) =>
      Effect.gen(function*() {
        const faults = [
          [small, [["PUT", "unanswered_after"]]],
          [small, [...times(3, "PUT", "refused"), ["PUT", "unanswered_after"]]],
          [large, [["POST", "unanswered_after"]]],
          [large, [["POST", "unanswered_before"]]],
          [large, [["POST", "refused"], ["POST", "cut"]]]
        ] as const
        for (const [bytes, wrong] of faults) {
          const { stored } = yield* putFailing(server, bytes, wrong)
          const last = server.versions.at(-1)
          expect([wrong, stored]).toEqual([
            wrong,
            Exit.succeed({ version: last?.id, lockedUntil: new Date(last?.lock?.until ?? 0) })
          ])
        }
        expect([server.versions.length, server.uploads.size]).toEqual([faults.length, 0])
      }), week))

  it.live("stay where their put fails once they are stored, and no version of one that the store refuses does", () =>
    withStore((server) =>
      Effect.gen(function*() {
        const silent = [...times(4, "PUT", "unanswered_after"), ...times(4, "HEAD", "refused")]
        const { blobId, stored } = yield* putFailing(server, small, silent)
        expect(stored).toMatchObject(Exit.fail({ why: "unavailable" }))
        const [version] = server.versions
        const kept = { version: version?.id, lockedUntil: new Date(version?.lock?.until ?? 0) }
        expect(yield* remove(only(blobId))).toEqual(kept)
        for (const faults of [times(4, "POST", "refused"), times(1, "POST", "begun")]) {
          const refused = yield* putFailing(server, large, faults)
          expect(refused.stored).toMatchObject(Exit.fail({ why: "unavailable" }))
        }
        expect([server.versions, server.uploads.size, server.faults]).toEqual([[version], 0, []])
      }), week))

  locked(
    "that may not be removed are distinguished from those of a store that does not answer",
    (server) =>
      Effect.gen(function*() {
        const object = yield* put(small)
        yield* TestClock.adjust("7 days")
        for (const method of ["HEAD", "DELETE"]) {
          server.faults.push([method, "forbidden"])
          expect(yield* Effect.flip(remove(object))).toMatchObject({ why: "refused" })
        }
        expect(yield* remove(object)).toBe(null)
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
      yield* withStore((server) =>
        Effect.gen(function*() {
          const end = Date.UTC(2030, 2, 1, 12)
          expect((yield* put(small)).lockedUntil).toEqual(new Date(end))
          expect(server.versions).toMatchObject([{ lock: { mode: "GOVERNANCE", until: end } }])
        }), years)
    }))

  it.effect("are not stored in a bucket without it, which is asked once a minute until it has it, and then no more", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* TestClock.setTime(begun)
      const without = yield* makeS3Server("files", key)
      yield* Effect.gen(function*() {
        for (const minute of [1, 2]) {
          for (const refused of [yield* Effect.flip(put(small)), yield* Effect.flip(put(small))]) {
            expect([refused.why, refused.reason]).toEqual([
              "unavailable",
              "The bucket has no Object Lock, which CONSOLE_BLOBS_LOCK needs"
            ])
          }
          expect([without.versions, without.requests])
            .toEqual([[], Array.from({ length: minute }, () => "GET /files?object-lock=")])
          yield* TestClock.adjust("1 minute")
        }
      }).pipe(Effect.provide(storeAt(without, { lock: week })))
      const withIt = yield* makeS3Server("files", key, { hasLocks: true })
      yield* put(small).pipe(
        Effect.andThen(TestClock.adjust("1 day")),
        Effect.andThen(put(small)),
        Effect.provide(storeAt(withIt, { lock: week }))
      )
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
