/** Stores of objects over the tests' own S3 server. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Redacted } from "effect"
import * as S3Blobs from "../../../src/layers/blobs/S3Blobs.ts"
import type { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { makeS3Server, type S3Server } from "./s3Server.ts"
import type { SigningKey } from "./signatures.ts"

export const key: SigningKey = { keyId: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG", region: "eu-central-1" }

interface Place {
  readonly region?: string
  readonly secret?: string
  readonly lock?: S3Blobs.S3Lock
}

export const storeAt = (
  { endpoint }: Pick<S3Server, "endpoint">,
  { lock, region = key.region, secret = key.secret }: Place = {}
) =>
  S3Blobs.layer(
    { endpoint, bucket: "files", prefix: "console/", region },
    { keyId: key.keyId, secret: Redacted.make(secret) },
    lock
  ).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))

export const withStore = <A, E, R>(use: (server: S3Server) => Effect.Effect<A, E, R>, lock?: S3Blobs.S3Lock) =>
  Effect.scoped(
    Effect.flatMap(
      makeS3Server("files", key, { hasLocks: lock !== undefined }),
      (server): Effect.Effect<A, E, Exclude<R, BlobStore>> =>
        Effect.provide(use(server), storeAt(server, lock === undefined ? {} : { lock }))
    )
  )
