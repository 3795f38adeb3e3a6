/** A store of objects that speaks S3, checks every signature, and fails as it is told to. */
import { Clock, Effect } from "effect"
import * as crypto from "node:crypto"
import * as http from "node:http"
import { listening } from "../http/loopback.ts"
import { checksumRefusal, lockOf, makeBucket, type NewObject, type Version } from "./bucket.ts"
import { refusalOf, type SigningKey } from "./signatures.ts"

/**
 * The next answers that go wrong: refused for now, forbidden, begun as a success without the work, cut in the middle of a
 * body, or without an answer after the work is done or before it begins.
 */
export type Fault = "begun" | "cut" | "forbidden" | "refused" | "unanswered_after" | "unanswered_before"

interface Upload extends Omit<NewObject, "bytes"> {
  readonly name: string
  readonly parts: Map<number, Buffer>
}

export interface S3Server {
  readonly endpoint: string
  /** Objects by their names, and in a bucket with Object Lock every version of them, in order. */
  readonly versions: ReadonlyArray<Version>
  readonly uploads: Map<string, Upload>
  /** Faults of the next requests that match the method. */
  readonly faults: Array<readonly [method: string, fault: Fault]>
  /** Requests so far: method and target. */
  readonly requests: Array<string>
}

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

const error = (status: number, code: string): Answer => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>No.</Message></Error>`
})

const etagOf = (bytes: Uint8Array): string => `"${crypto.createHash("md5").update(bytes).digest("hex")}"`

const read = (request: http.IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part)).on("end", () => resolve(Buffer.concat(parts)))
      .on("error", reject)
  })

const described = ({ bytes, id, isHeld, lock, put }: Version, hasLocks: boolean): Record<string, string> => ({
  "content-type": "application/octet-stream",
  etag: etagOf(bytes),
  "x-amz-meta-put": put,
  ...(hasLocks ? { "x-amz-version-id": id } : {}),
  ...(isHeld ? { "x-amz-object-lock-legal-hold": "ON" } : {}),
  ...(lock === null ? {} : {
    "x-amz-object-lock-mode": lock.mode,
    "x-amz-object-lock-retain-until-date": new Date(lock.until).toISOString()
  })
})

const partOf = ({ bytes }: Version, headers: Record<string, string>, range: string | undefined): Answer => {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? []
  if (first === undefined) return { status: 200, headers, body: bytes }
  const start = Number(first)
  if (start >= bytes.length) return error(416, "InvalidRange")
  const end = Math.min(Number(last), bytes.length - 1)
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${start}-${end}/${bytes.length}` },
    body: bytes.subarray(start, end + 1)
  }
}

/** A store on a free port with one bucket, until the scope closes. Its time is the Clock's. */
export const makeS3Server = (bucketName: string, key: SigningKey, { hasLocks = false } = {}) =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const now = () => clock.currentTimeMillisUnsafe()
    const bucket = makeBucket(hasLocks, now)
    const uploads = new Map<string, Upload>()
    const faults: Array<readonly [string, Fault]> = []
    const requests: Array<string> = []

    const store = (name: string, stored: NewObject, condition: string | undefined): Answer => {
      if (condition === "*" && bucket.find(name, null) !== undefined) return error(412, "PreconditionFailed")
      const { etag = "", "x-amz-version-id": version } = described(bucket.add(name, stored), hasLocks)
      return { status: 200, headers: { etag, ...(version === undefined ? {} : { "x-amz-version-id": version }) } }
    }

    const complete = (uploadId: string, body: string, condition: string | undefined): Answer => {
      const upload = uploads.get(uploadId)
      if (upload === undefined) return error(404, "NoSuchUpload")
      // Each part names its number and its hash, in whichever order.
      const named = [...body.matchAll(/<Part>(.*?)<\/Part>/g)].map(([, part = ""]) => part)
      const parts = named.map((text) => {
        const part = upload.parts.get(Number(/<PartNumber>(\d+)</.exec(text)?.[1]))
        const etag = /<ETag>([^<]+)</.exec(text)?.[1]?.replaceAll("&quot;", "\"")
        return part !== undefined && etagOf(part) === etag ? part : null
      })
      if (parts.includes(null) || parts.length !== upload.parts.size) return error(400, "InvalidPart")
      const { lock, name, put } = upload
      const stored = store(name, { bytes: Buffer.concat(parts as Array<Buffer>), put, lock }, condition)
      if (stored.status === 200) uploads.delete(uploadId)
      return stored.status === 200 ? { ...stored, body: "<CompleteMultipartUploadResult/>" } : stored
    }

    const lockConfiguration: Answer = hasLocks
      ? {
        status: 200,
        body: "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>"
      }
      : error(404, "ObjectLockConfigurationNotFoundError")

    const answer = (method: string, url: URL, headers: http.IncomingHttpHeaders, body: Buffer): Answer => {
      const [, found, ...rest] = url.pathname.split("/")
      if (found !== bucketName) return error(404, "NoSuchBucket")
      const name = decodeURIComponent(rest.join("/"))
      if (name === "" && url.searchParams.has("object-lock")) return lockConfiguration
      const uploadId = url.searchParams.get("uploadId")
      const put = String(headers["x-amz-meta-put"] ?? "")
      const condition = headers["if-none-match"]
      const version = url.searchParams.get("versionId")
      if (version !== null && !/^[\da-f-]{36}$/.test(version)) return error(400, "InvalidArgument")
      const lock = lockOf(headers, hasLocks, now())
      if (typeof lock === "string") return error(400, lock)
      if (method === "POST" && url.searchParams.has("uploads")) {
        const id = `up/${crypto.randomUUID()}+=`
        uploads.set(id, { name, put, lock, parts: new Map() })
        return {
          status: 200,
          body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
        }
      }
      if (uploadId !== null && method === "DELETE") {
        return uploads.delete(uploadId) ? { status: 204 } : error(404, "NoSuchUpload")
      }
      if (uploadId !== null && method === "PUT") {
        const upload = uploads.get(uploadId)
        if (upload === undefined) return error(404, "NoSuchUpload")
        const refusal = checksumRefusal(headers, body, upload.lock !== null)
        if (refusal !== null) return error(400, refusal)
        upload.parts.set(Number(url.searchParams.get("partNumber")), body)
        return { status: 200, headers: { etag: etagOf(body) } }
      }
      if (uploadId !== null) return complete(uploadId, body.toString("utf8"), condition)
      if (method === "PUT") {
        const refusal = checksumRefusal(headers, body, lock !== null)
        return refusal === null ? store(name, { bytes: body, put, lock }, condition) : error(400, refusal)
      }
      if (method === "DELETE") {
        const refusal = bucket.remove(name, version)
        return refusal === null ? { status: 204 } : error(403, refusal)
      }
      const stored = bucket.find(name, version)
      if (stored === undefined) return method === "HEAD" ? { status: 404 } : error(404, "NoSuchKey")
      const said = described(stored, hasLocks)
      return method === "HEAD"
        ? { status: 200, headers: { ...said, "content-length": String(stored.bytes.length) } }
        : partOf(stored, said, headers["range"])
    }

    const takeFault = (method: string): Fault | undefined => {
      const at = faults.findIndex(([one]) => one === method)
      return at < 0 ? undefined : faults.splice(at, 1)[0]?.[1]
    }

    const server = http.createServer((request, response) => {
      void (async () => {
        const body = await read(request)
        const { headers, method = "", url: target = "" } = request
        requests.push(`${method} ${target}`)
        const refusal = refusalOf({ method, target, headers: headers as Record<string, string>, body }, key, now())
        const fault = refusal === null ? takeFault(method) : undefined
        if (fault === "unanswered_before") return void request.socket.destroy()
        const answered = refusal !== null
          ? error(403, refusal)
          : fault === "refused"
          ? error(503, "SlowDown")
          : fault === "forbidden"
          ? error(403, "AccessDenied")
          : fault === "begun"
          ? { status: 200, body: " " }
          : answer(method, new URL(target, "http://store"), headers, body)
        if (fault === "unanswered_after") return void request.socket.destroy()
        const sent = Buffer.from(answered.body ?? "")
        response.writeHead(answered.status, {
          ...(method === "HEAD" ? {} : { "content-length": String(sent.length) }),
          ...answered.headers
        })
        if (fault === "cut") {
          response.write(sent.subarray(0, sent.length >> 1), () => void request.socket.destroy())
        } else {
          response.end(method === "HEAD" ? undefined : sent)
        }
      })()
    })
    const port = yield* listening(server)
    const { versions } = bucket
    const made: S3Server = { endpoint: `http://127.0.0.1:${port}`, versions, uploads, faults, requests }
    return made
  })
