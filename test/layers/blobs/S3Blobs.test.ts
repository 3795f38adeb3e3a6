import { describe, expect, it } from "@effect/vitest"
import { SignatureV4 } from "@smithy/signature-v4"
import { Effect, Stream } from "effect"
import * as crypto from "node:crypto"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { inParts, laws, objectOf, only } from "../../support/archive/blobLaws.ts"
import { makeS3Server, type S3Server } from "../../support/s3/s3Server.ts"
import { key, storeAt, withStore } from "../../support/s3/s3Stores.ts"
import { refusalOf, signatureOf } from "../../support/s3/signatures.ts"

const bytes = objectOf(100_000)
/** Two parts and a rest. */
const large = Buffer.alloc(17 * 1024 * 1024, objectOf(65_537))

const put = (content: Uint8Array, id: string = crypto.randomUUID()) =>
  Effect.as(Effect.flatMap(BlobStore, (store) => store.put(id, content.length, inParts(content))), id)
const get = (id: string, start: number, end: number) =>
  Stream.mkUint8Array(Stream.unwrap(Effect.map(BlobStore, (store) => store.get(only(id), { start, end }))))

describe("objects of an S3 store", () => {
  it.live("keep the laws under a prefix, and leave nothing where they fail", () =>
    withStore((server) =>
      Effect.gen(function*() {
        yield* laws
        expect([server.versions.length, server.uploads.size]).toEqual([0, 0])
        const id = yield* put(bytes)
        expect(server.versions.map(({ name }) => name)).toEqual([`console/${id}`])
      })
    ))

  it.live("are stored in parts where they are large, and abandoned where their bytes fail or another one is there", () =>
    withStore((server) =>
      Effect.gen(function*() {
        const id = yield* put(large)
        expect(server.requests.filter((one) => one.startsWith("PUT"))).toHaveLength(3)
        expect(Buffer.compare(yield* get(id, 0, large.length), large)).toBe(0)
        expect(yield* get(id, 9_000_000, 9_000_009)).toEqual(new Uint8Array(large.subarray(9_000_000, 9_000_009)))
        expect((yield* Effect.flip(put(large, id))).why).toBe("exists")
        const store = yield* BlobStore
        const failing = Stream.concat(inParts(large.subarray(0, 9_000_000)), Stream.fail("away"))
        const other = crypto.randomUUID()
        expect(yield* Effect.flip(store.put(other, large.length, failing))).toBe("away")
        expect([server.versions.length, server.uploads.size]).toEqual([1, 0])
        expect((yield* Effect.flip(get(id, 0, large.length + 1))).why).toBe("size")
      })
    ))

  it.live("are stored and read once, however often the store is busy or cuts connections", () =>
    withStore((server) =>
      Effect.gen(function*() {
        for (const fault of ["refused", "unanswered_before", "unanswered_after"] as const) {
          server.faults.push(["PUT", fault])
          const id = yield* put(bytes)
          expect([fault, Buffer.compare(yield* get(id, 0, bytes.length), bytes)]).toEqual([fault, 0])
        }
        server.faults.push(["POST", "refused"], ["PUT", "unanswered_after"])
        const id = yield* put(large)
        server.faults.push(["GET", "cut"], ["GET", "refused"], ["GET", "cut"])
        const from = server.requests.length
        expect(Buffer.compare(yield* get(id, 5, large.length), large.subarray(5))).toBe(0)
        expect(server.requests.length - from).toBe(4)
        server.faults.push(["DELETE", "unanswered_after"])
        yield* (yield* BlobStore).remove(only(id))
        expect(server.versions.length).toBe(3)
      })
    ))

  it.live("fail as not available where the store stays busy or cuts on, and leave nothing", () =>
    withStore((server) =>
      Effect.gen(function*() {
        const id = yield* put(bytes)
        for (let at = 0; at < 4; at++) server.faults.push(["PUT", "refused"], ["GET", "cut"])
        const busy = yield* Effect.flip(put(bytes))
        expect([busy.why, busy.reason]).toEqual([
          "unavailable",
          "An object was not stored: the store answered 503 SlowDown"
        ])
        expect(yield* Effect.flip(get(id, 0, bytes.length))).toMatchObject({
          why: "unavailable",
          reason: "An object was not read to its end"
        })
        expect(server.versions.length).toBe(1)
      })
    ))

  it.live("are refused to another secret and another region, with a reason that has neither", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* makeS3Server("files", key)
      for (
        const [place, code] of [
          [{ secret: "another secret" }, "SignatureDoesNotMatch"],
          [{ region: "us-east-1" }, "AuthorizationHeaderMalformed"]
        ] as const
      ) {
        const refused = yield* Effect.provide(Effect.flip(put(bytes)), storeAt(server, place))
        expect([refused.why, refused.reason]).toEqual([
          "unavailable",
          `An object was not stored: the store answered 403 ${code}`
        ])
      }
      const away = yield* Effect.provide(
        Effect.flip(get(crypto.randomUUID(), 0, 1)),
        storeAt({ endpoint: "http://127.0.0.1:1" })
      )
      expect(away).toMatchObject({ why: "unavailable", reason: "An object was not read: the store gave no answer" })
    })))
})

type Source = string | ArrayBuffer | ArrayBufferView

const bytesOf = (source: Source) =>
  typeof source === "string"
    ? source
    : ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source)

/** SHA-256, or HMAC where there is a secret, as the vendor's signer takes it. */
class Sha256 {
  readonly #hash: crypto.Hash | crypto.Hmac

  constructor(secret?: Source) {
    this.#hash = secret === undefined
      ? crypto.createHash("sha256")
      : crypto.createHmac("sha256", bytesOf(secret))
  }

  reset(): void {}

  update(bytes: Source): void {
    this.#hash.update(bytesOf(bytes))
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()))
  }
}

const vendor = new SignatureV4({
  service: "s3",
  region: key.region,
  credentials: { accessKeyId: key.keyId, secretAccessKey: key.secret },
  sha256: Sha256,
  uriEscapePath: false
})

/** Asks a store by a request that the vendor's signer has signed. */
const askSigned = (
  { endpoint }: Pick<S3Server, "endpoint">,
  method: string,
  path: string,
  further: {
    readonly body?: Uint8Array<ArrayBuffer>
    readonly headers?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
  } = {}
) =>
  Effect.promise(async () => {
    const { body, query = {} } = further
    const { host, hostname, port } = new URL(endpoint)
    const headers = { host, ...further.headers }
    const request = { protocol: "http:", hostname, port: Number(port), method, path, query, headers, body }
    const { headers: signed } = await vendor.sign(request)
    const response = await fetch(`${endpoint}${path}?${new URLSearchParams(query)}`, {
      method,
      headers: signed,
      ...(body === undefined ? {} : { body })
    })
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
  })

describe("the test's own store", () => {
  it.live("takes what the vendor's own signer has signed, and answers it", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* makeS3Server("files", key)
      const content = new Uint8Array(bytes.subarray(0, 1000))
      const headers = { "if-none-match": "*", "x-amz-meta-put": "one  two" }
      const stored = (name: string) => askSigned(server, "PUT", `/files/${name}`, { body: content, headers })
      expect([(yield* stored("a%20b/%C3%A4")).status, (yield* stored("a%20b/%C3%A4")).status]).toEqual([200, 412])
      const part = yield* askSigned(server, "GET", "/files/a%20b/%C3%A4", { headers: { range: "bytes=10-19" } })
      expect([part.status, new Uint8Array(part.body)]).toEqual([206, content.slice(10, 20)])
      const begun = yield* askSigned(server, "POST", "/files/c", { query: { uploads: "" } })
      const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(String(begun.body))?.[1] ?? ""
      const query = { partNumber: "1", uploadId }
      expect((yield* askSigned(server, "PUT", "/files/c", { query, body: content })).status).toBe(200)
      expect((yield* askSigned(server, "DELETE", "/files/c", { query: { uploadId } })).status).toBe(204)
      expect((yield* askSigned(server, "HEAD", "/files/c")).status).toBe(404)
    })))

  it.live("takes what is to be locked with a checksum alone, and removes no version that is locked", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* makeS3Server("files", key, { hasLocks: true })
      const locking = {
        "x-amz-object-lock-mode": "GOVERNANCE",
        "x-amz-object-lock-retain-until-date": new Date(Date.now() + 60_000).toISOString()
      }
      const body = new Uint8Array(bytes.subarray(0, 1000))
      const checksum = { "content-md5": crypto.createHash("md5").update(body).digest("base64") }
      const other = { "content-md5": crypto.createHash("md5").digest("base64") }
      const put = (headers: Readonly<Record<string, string>>) =>
        Effect.map(askSigned(server, "PUT", "/files/a", { body, headers }), ({ status }) => status)
      expect(yield* Effect.forEach([locking, { ...locking, ...other }, { ...locking, ...checksum }], put))
        .toEqual([400, 400, 200])
      const [{ id: versionId } = { id: "" }] = server.versions
      const remove = (query: Readonly<Record<string, string>>) =>
        Effect.map(askSigned(server, "DELETE", "/files/a", { query }), ({ status }) => status)
      expect([yield* remove({ versionId }), server.versions.length]).toEqual([403, 1])
      expect([yield* remove({}), server.versions.length]).toEqual([204, 2])
      expect((yield* askSigned(server, "GET", "/files/a")).status).toBe(404)
      expect((yield* askSigned(server, "GET", "/files/a", { query: { versionId } })).status).toBe(200)
      const begun = yield* askSigned(server, "POST", "/files/b", { query: { uploads: "" }, headers: locking })
      const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(String(begun.body))?.[1] ?? ""
      const query = { partNumber: "1", uploadId }
      expect((yield* askSigned(server, "PUT", "/files/b", { query, body })).status).toBe(400)
      expect((yield* askSigned(server, "PUT", "/files/b", { query, body, headers: checksum })).status).toBe(200)
      const without = yield* makeS3Server("files", key)
      const refused = yield* askSigned(without, "PUT", "/files/a", { body, headers: { ...locking, ...checksum } })
      expect(refused.status).toBe(400)
    })))

  it("checks signatures as the published examples have them, and refuses what was changed", () => {
    const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    const published = {
      keyId: "AKIAIOSFODNN7EXAMPLE",
      secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      region: "us-east-1"
    }
    const headers: Record<string, string> = {
      host: "examplebucket.s3.amazonaws.com",
      range: "bytes=0-9",
      "x-amz-content-sha256": empty,
      "x-amz-date": "20130524T000000Z"
    }
    const request = { method: "GET", target: "/test.txt", headers, body: new Uint8Array() }
    const signed = Object.keys(headers).join(";")
    const signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    expect(signatureOf(request, published, signed)).toBe(signature)
    const now = Date.UTC(2013, 4, 24)
    const authorization =
      `AWS4-HMAC-SHA256 Credential=${published.keyId}/20130524/us-east-1/s3/aws4_request, SignedHeaders=${signed}, Signature=${signature}`
    const sent = { ...request, headers: { ...headers, authorization } }
    expect(refusalOf(sent, published, now)).toBe(null)
    expect(refusalOf({ ...sent, target: "/test.txt?versionId=1" }, published, now)).toBe("SignatureDoesNotMatch")
    expect(refusalOf({ ...sent, headers: { ...sent.headers, range: "bytes=0-99" } }, published, now))
      .toBe("SignatureDoesNotMatch")
    expect(refusalOf({ ...sent, body: new Uint8Array(1) }, published, now)).toBe("XAmzContentSHA256Mismatch")
    expect(refusalOf({ ...sent, headers: { ...sent.headers, "x-amz-meta-put": "1" } }, published, now))
      .toBe("AccessDenied")
    expect(refusalOf(sent, published, now + 16 * 60 * 1000)).toBe("RequestTimeTooSkewed")
  })
})
