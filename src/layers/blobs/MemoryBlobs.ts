/** Objects in memory, for tests and for the core that has its database there. */
import { Effect, Layer, Stream } from "effect"
import { isBlobId } from "../../domain/archive/Blob.ts"
import { BlobStore, BlobStoreFailed } from "../../ports/archive/BlobStore.ts"

const failed = (why: BlobStoreFailed["why"]) => new BlobStoreFailed({ why, reason: `An object in memory: ${why}` })

export const layer = Layer.sync(BlobStore, () => {
  const objects = new Map<string, Uint8Array>()
  return BlobStore.of({
    isConfigured: true,
    put: Effect.fnUntraced(function*<E, R>(id: string, size: number, bytes: Stream.Stream<Uint8Array, E, R>) {
      if (!isBlobId(id)) return yield* failed("missing")
      const whole = yield* Stream.mkUint8Array(bytes)
      if (whole.length !== size) return yield* failed("size")
      if (objects.has(id)) return yield* failed("exists")
      objects.set(id, whole)
      return { version: null, lockedUntil: null }
    }),
    get: ({ blobId }, { end, start }) =>
      Stream.suspend(() => {
        const found = objects.get(blobId)
        if (found === undefined) return Stream.fail(failed("missing"))
        return end > found.length ? Stream.fail(failed("size")) : Stream.make(found.subarray(start, end))
      }),
    remove: ({ blobId }) => Effect.as(Effect.sync(() => objects.delete(blobId)), null),
    exists: (id) => Effect.sync(() => objects.has(id))
  })
})
