import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand
} from "@aws-sdk/client-s3"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as crypto from "node:crypto"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { inParts, objectOf, only } from "../../support/archive/blobLaws.ts"
import { makeS3Server, type S3Server } from "../../support/s3/s3Server.ts"
import { key, withStore } from "../../support/s3/s3Stores.ts"

const bytes = objectOf(100_000)
const Bucket = "files"

/** The vendor's client, with one attempt a request, until the scope closes. */
const vendor = ({ endpoint }: Pick<S3Server, "endpoint">, secret: string = key.secret) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      new S3Client({
        endpoint,
        region: key.region,
        forcePathStyle: true,
        maxAttempts: 1,
        credentials: { accessKeyId: key.keyId, secretAccessKey: secret }
      })
    ),
    (client) => Effect.sync(() => client.destroy())
  )

const nameOf = (failure: unknown): string => failure instanceof Error ? failure.name : String(failure)

/** The name of the error that the client answers. */
const refused = (asked: Promise<unknown>) => Effect.promise(() => asked.then(() => "done", nameOf))

describe("the tests' S3 server and the vendor's client", () => {
  it.live("agree on objects, ranges, parts, conditions and deletions", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* makeS3Server(Bucket, key)
      const client = yield* vendor(server)
      const object = { Bucket, Key: "a folder/an object+é" }
      const get = (Range?: string) =>
        Effect.promise(async () => {
          const { Body } = await client.send(
            new GetObjectCommand({ ...object, ...(Range === undefined ? {} : { Range }) })
          )
          return Buffer.from(await Body!.transformToByteArray())
        })
      yield* Effect.promise(() => client.send(new PutObjectCommand({ ...object, Body: bytes })))
      expect(Buffer.compare(yield* get(), bytes)).toBe(0)
      expect(Buffer.compare(yield* get("bytes=99990-99999"), bytes.subarray(-10))).toBe(0)
      const head = yield* Effect.promise(() => client.send(new HeadObjectCommand(object)))
      expect(head.ContentLength).toBe(bytes.length)
      expect(yield* refused(client.send(new GetObjectCommand({ ...object, Range: "bytes=100000-100001" })))).toBe(
        "InvalidRange"
      )
      const again = new PutObjectCommand({ ...object, Body: "other", IfNoneMatch: "*" })
      expect(yield* refused(client.send(again))).toBe("PreconditionFailed")

      const parts = { Bucket, Key: "in parts" }
      yield* Effect.promise(async () => {
        const { UploadId } = await client.send(new CreateMultipartUploadCommand(parts))
        const Parts = await Promise.all([1, 2].map(async (PartNumber) => {
          const part = new UploadPartCommand({ ...parts, UploadId, PartNumber, Body: bytes })
          return { PartNumber, ETag: (await client.send(part)).ETag }
        }))
        await client.send(new CompleteMultipartUploadCommand({ ...parts, UploadId, MultipartUpload: { Parts } }))
      })
      const joined = yield* Effect.promise(() => client.send(new HeadObjectCommand(parts)))
      expect([joined.ContentLength, server.uploads.size]).toEqual([2 * bytes.length, 0])

      yield* Effect.promise(() => client.send(new DeleteObjectCommand(object)))
      expect(yield* refused(client.send(new GetObjectCommand(object)))).toBe("NoSuchKey")
      expect(server.versions.map(({ name }) => name)).toEqual(["in parts"])
    })))

  it.live("agree on who is refused: another secret, and what was changed on its way", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* makeS3Server(Bucket, key)
      const put = (client: S3Client) => client.send(new PutObjectCommand({ Bucket, Key: "one", Body: bytes }))
      expect(yield* refused(put(yield* vendor(server, "another secret")))).toBe("SignatureDoesNotMatch")
      const client = yield* vendor(server)
      client.middlewareStack.add(
        (next) => (call) => {
          Object.assign(call.request as object, { body: Buffer.from(bytes).fill(~bytes[0]! & 255, 0, 1) })
          return next(call)
        },
        { step: "deserialize", priority: "low" }
      )
      expect(yield* refused(put(client))).toBe("XAmzContentSHA256Mismatch")
      expect(server.versions).toEqual([])
    })))

  it.live("each read what the service's store has written, and it reads what the client has", () =>
    withStore((server) =>
      Effect.gen(function*() {
        const client = yield* vendor(server)
        const store = yield* BlobStore
        const [mine, theirs] = [crypto.randomUUID(), crypto.randomUUID()]
        yield* store.put(mine, bytes.length, inParts(bytes))
        const read = yield* Effect.promise(async () => {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `console/${mine}` }))
          return Buffer.from(await Body!.transformToByteArray())
        })
        expect(Buffer.compare(read, bytes)).toBe(0)
        yield* Effect.promise(() =>
          client.send(new PutObjectCommand({ Bucket, Key: `console/${theirs}`, Body: bytes }))
        )
        const found = yield* Stream.mkUint8Array(store.get(only(theirs), { start: 7, end: bytes.length }))
        expect(Buffer.compare(found, bytes.subarray(7))).toBe(0)
        yield* store.remove(only(theirs))
        expect(yield* refused(client.send(new HeadObjectCommand({ Bucket, Key: `console/${theirs}` })))).toBe(
          "NotFound"
        )
      })
    ))
})
