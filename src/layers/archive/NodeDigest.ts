/** SHA-256 by Node. */
import { Effect, Layer } from "effect"
import * as crypto from "node:crypto"
import { ContentDigest } from "../../ports/archive/ContentDigest.ts"

export const layer = Layer.succeed(ContentDigest, {
  start: Effect.sync(() => {
    const hash = crypto.createHash("sha256")
    return { update: (bytes: Uint8Array) => void hash.update(bytes), digest: () => new Uint8Array(hash.digest()) }
  })
})
