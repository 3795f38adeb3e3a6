/** No store of objects: none was configured, and nothing is stored or found. */
import { Effect, Layer, Stream } from "effect"
import { BlobStore, BlobStoreFailed } from "../../ports/archive/BlobStore.ts"

const absent = new BlobStoreFailed({ why: "unavailable", reason: "CONSOLE_BLOBS names no place for files" })

export const layer = Layer.succeed(BlobStore, {
  isConfigured: false,
  put: () => Effect.fail(absent),
  get: () => Stream.fail(absent),
  remove: () => Effect.fail(absent),
  exists: () => Effect.fail(absent)
})
