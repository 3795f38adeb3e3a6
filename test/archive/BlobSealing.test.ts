import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Stream } from "effect"
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import { newFileKey, openBlob, openFileKey, sealBlob } from "../../src/archive/BlobSealing.ts"
import { newEpoch, openEpoch } from "../../src/archive/EpochKeys.ts"
import { type BlobRef, chunkSize, sealedSize } from "../../src/domain/archive/Blob.ts"
import { concat } from "../../src/domain/archive/Bytes.ts"
import type { ByteRange } from "../../src/domain/Content.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import type { ArchiveCrypto } from "../../src/ports/archive/ArchiveCrypto.ts"
import blobs from "../golden/archive/1/blobs.json" with { type: "json" }
import * as Vectors from "../support/archive/archiveVectors.ts"
import { tried } from "../support/drawn.ts"

const { accountId, fromHex, organizationId, toHex } = Vectors

const ref: BlobRef = { organizationId, accountId, blobId: blobs.blob_id }

/** The contents of the vectors, whose maker is another program. */
const contentOf = (size: number) => Uint8Array.from({ length: size }, (_, at) => at * 31 + Math.floor(at / 251))

const sha256 = (bytes: Uint8Array) => crypto.createHash("sha256").update(bytes).digest("hex")

const key = () => Redacted.make(fromHex(blobs.file_key))

const seal = (content: Uint8Array, by = key(), at = ref) => Stream.mkUint8Array(sealBlob(by, at, Stream.make(content)))

/** The bytes of an object, in parts as a store gives them. */
const from = (stored: Uint8Array) => ({ end, start }: ByteRange) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil((end - start) / 50_000) }, (_, part) =>
      stored.subarray(start + part * 50_000, Math.min(end, start + (part + 1) * 50_000)))
  )

const open = (stored: Uint8Array, size: number, range?: ByteRange, by = key(), at = ref) =>
  Stream.mkUint8Array(openBlob(by, at, size, from(stored), range))

const onNode = <A, E>(effect: Effect.Effect<A, E, ArchiveCrypto>) => Effect.provide(effect, NodeCrypto.layer)

/** True if nothing of the content is given but what was sealed, and it does not end well. */
const isRefused = (opening: Effect.Effect<Uint8Array, unknown, ArchiveCrypto>) =>
  Effect.map(Effect.exit(opening), Exit.isFailure)

describe.each(Object.entries(Vectors.layers))("the frozen contents by %s", (_, layer) => {
  it.effect("are sealed and opened as their vectors say, with 0, 1, 65,536 and 65,537 bytes", () =>
    Effect.gen(function*() {
      expect(blobs.blobs.map(({ size }) => size)).toEqual([0, 1, 65_536, 65_537])
      for (const { content_sha256, end, size, stored_bytes, stored_sha256 } of blobs.blobs) {
        const content = contentOf(size)
        expect(sha256(content)).toBe(content_sha256)
        const stored = yield* seal(content)
        expect([stored.length, sealedSize(size), sha256(stored)]).toEqual([stored_bytes, stored_bytes, stored_sha256])
        expect(toHex(stored.subarray(-33))).toBe(end)
        expect(yield* open(stored, size)).toEqual(content)
      }
    }).pipe(Effect.provide(layer)))

  it.effect("have a key that opens with their epoch's", () =>
    Effect.gen(function*() {
      const epoch = Vectors.epochs.find(({ ref }) => String(ref.epochId) === blobs.epoch_id)!
      const opened = yield* openEpoch(epoch.ref, fromHex(epoch.sealed_key), Vectors.vectorSeed())
      const fileKey = yield* openFileKey(opened, blobs.blob_id, fromHex(blobs.sealed_key))
      expect(toHex(Redacted.value(fileKey))).toBe(blobs.file_key)
    }).pipe(Effect.provide(layer)))
})

describe("a content", () => {
  it("is sealed alike in whatever parts it comes, and a range of it is the slice of the whole", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3 * chunkSize }),
        fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 5 }),
        fc.nat(3 * chunkSize),
        fc.nat(3 * chunkSize),
        (size, cuts, one, other) =>
          Effect.runPromise(onNode(Effect.gen(function*() {
            const content = contentOf(size)
            const stored = yield* seal(content)
            const ends = [...cuts.map((cut) => cut % (size + 1)), size].sort((a, b) => a - b)
            const parts = ends.map((end, index) => content.subarray(ends[index - 1] ?? 0, end))
            const sealed = sealBlob(key(), ref, Stream.fromIterable(parts))
            expect(Buffer.compare(yield* Stream.mkUint8Array(sealed), stored)).toBe(0)
            const [start, end] = [Math.min(one, other, size), Math.min(Math.max(one, other), size)]
            const opened = yield* open(stored, size, { start, end })
            expect(Buffer.compare(opened, content.subarray(start, end))).toBe(0)
          })))
      ),
      tried(40)
    ))

  it.effect("reads of its object the chunks of the range alone", () =>
    onNode(Effect.gen(function*() {
      const stored = yield* seal(contentOf(5 * chunkSize))
      const asked: Array<ByteRange> = []
      const read = (range: ByteRange) => {
        asked.push(range)
        return from(stored)(range)
      }
      yield* Stream.runDrain(
        openBlob(key(), ref, 5 * chunkSize, read, { start: 2 * chunkSize + 9, end: 3 * chunkSize })
      )
      expect(asked).toEqual([{ start: 2 * 65_552, end: 3 * 65_552 }])
    })))

  it.effect("does not open where chunks were changed, swapped, cut off or appended, or its size is another", () =>
    onNode(Effect.gen(function*() {
      const size = 2 * chunkSize + 5
      const stored = yield* seal(contentOf(size))
      const chunks = [stored.slice(0, 65_552), stored.slice(65_552, 2 * 65_552), stored.slice(2 * 65_552)]
      const [first, second, last] = chunks
      const changed = stored.slice()
      changed[70_000] = (changed[70_000] ?? 0) ^ 1
      for (
        const [what, bytes, as] of [
          ["changed", changed, size],
          ["swapped", concat(second!, first!, last!), size],
          ["without its end", concat(first!, second!), 2 * chunkSize],
          ["without its end, at its size", concat(first!, second!), size],
          ["cut within a chunk", stored.subarray(0, -1), size],
          ["repeated", concat(first!, first!, last!), size],
          ["appended", concat(first!, second!, second!, last!), 3 * chunkSize + 5],
          ["of another size", stored, size - 1],
          ["empty", new Uint8Array(), size],
          ["empty, at its size", new Uint8Array(), 0]
        ] as const
      ) {
        expect([what, yield* isRefused(open(bytes, as))]).toEqual([what, true])
      }
      const broken = yield* Effect.flip(open(changed, size))
      expect(broken).toMatchObject({ _tag: "ContentBroken", reason: "chunk 1 does not open" })
    })))

  it.effect("does not open as that of another organization, account or object, nor with another key", () =>
    onNode(Effect.gen(function*() {
      const stored = yield* seal(contentOf(10))
      const others: ReadonlyArray<BlobRef> = [
        { ...ref, organizationId: Vectors.otherOrganizationId },
        { ...ref, accountId: Vectors.otherAccountId },
        { ...ref, blobId: crypto.randomUUID() }
      ]
      for (const other of others) expect(yield* isRefused(open(stored, 10, undefined, key(), other))).toBe(true)
      const another = Redacted.make(new Uint8Array(32))
      expect(yield* isRefused(open(stored, 10, undefined, another))).toBe(true)
      const { key: epoch } = yield* newEpoch(Vectors.epochRef(7n), Vectors.publicKey)
      const { key: fileKey, sealedKey } = yield* newFileKey(epoch, ref.blobId)
      expect(sealedKey).toHaveLength(60)
      expect(yield* openFileKey(epoch, ref.blobId, sealedKey)).toEqual(fileKey)
      const { key: later } = yield* newEpoch(Vectors.epochRef(8n), Vectors.publicKey)
      for (
        const refused of [
          openFileKey(epoch, crypto.randomUUID(), sealedKey),
          openFileKey(later, ref.blobId, sealedKey),
          openFileKey(epoch, ref.blobId, sealedKey.subarray(1))
        ]
      ) {
        expect(yield* Effect.flip(refused)).toMatchObject({ part: "file key" })
      }
    })))
})
