/** Stores of objects over the tests' own S3 server. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Redacted } from "effect"
import * as S3Blobs from "../../../src/layers/blobs/S3Blobs.ts"
import { makeS3 } from "../../../src/layers/blobs/S3Requests.ts"
import type { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { makeS3Server, type S3Server } from "./s3Server.ts"
import type { SigningKey } from "./signatures.ts"

export const key: SigningKey = { keyId: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG", region: "eu-central-1" }

interface Place {
  readonly region?: string
  readonly secret?: string
  readonly lock?: S3Blobs.S3Lock
}

const placeAt = (endpoint: string, region: string) => ({ endpoint, bucket: "files", prefix: "console/", region })
const credentials = (secret: string) => ({ keyId: key.keyId, secret: Redacted.make(secret) })

/** Hides an object behind a marker, as a thief of the bucket's key can. */
export const hide = ({ endpoint }: Pick<S3Server, "endpoint">, blobId: string) =>
  makeS3(placeAt(endpoint, key.region), credentials(key.secret)).pipe(
    Effect.flatMap((s3) => s3({ method: "DELETE", name: blobId })),
    Effect.provide(NodeHttpClient.layerNodeHttp)
  )

export const storeAt = (
  { endpoint }: Pick<S3Server, "endpoint">,
  { lock, region = key.region, secret = key.secret }: Place = {}
) =>
  S3Blobs.layer(placeAt(endpoint, region), credentials(secret), lock).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))

export const withStore = <A, E, R>(use: (server: S3Server) => Effect.Effect<A, E, R>, lock?: S3Blobs.S3Lock) =>
  Effect.scoped(
    Effect.flatMap(
      makeS3Server("files", key, { hasLocks: lock !== undefined }),
      (server): Effect.Effect<A, E, Exclude<R, BlobStore>> =>
        Effect.provide(use(server), storeAt(server, lock === undefined ? {} : { lock }))
    )
  )
