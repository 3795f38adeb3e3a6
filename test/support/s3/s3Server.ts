/** A store of objects that speaks S3, checks every signature, and fails as it is told to. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as http from "node:http"
import { listening } from "../http/loopback.ts"
import { refusalOf, type SigningKey } from "./signatures.ts"

/**
 * The next answers that go wrong: refused, cut in the middle of a body, or without an answer after the work is done or
 * before it begins.
 */
export type Fault = "cut" | "refused" | "unanswered_after" | "unanswered_before"

interface StoredObject {
  readonly bytes: Buffer
  readonly put: string
}

interface Upload {
  readonly name: string
  readonly put: string
  readonly parts: Map<number, Buffer>
}

export interface S3Server {
  readonly endpoint: string
  readonly objects: Map<string, StoredObject>
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

const partOf = ({ bytes }: StoredObject, range: string | undefined): Answer => {
  const headers = { "content-type": "application/octet-stream", etag: etagOf(bytes) }
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

/** A store on a free port with one bucket, until the scope closes. */
export const makeS3Server = (bucket: string, key: SigningKey) =>
  Effect.gen(function*() {
    const objects = new Map<string, StoredObject>()
    const uploads = new Map<string, Upload>()
    const faults: Array<readonly [string, Fault]> = []
    const requests: Array<string> = []

    const store = (name: string, stored: StoredObject, condition: string | undefined): Answer => {
      if (condition === "*" && objects.has(name)) return error(412, "PreconditionFailed")
      objects.set(name, stored)
      return { status: 200, headers: { etag: etagOf(stored.bytes) } }
    }

    const complete = (uploadId: string, body: string, condition: string | undefined): Answer => {
      const upload = uploads.get(uploadId)
      if (upload === undefined) return error(404, "NoSuchUpload")
      const named = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)]
      const parts = named.map(([, number, etag]) => {
        const part = upload.parts.get(Number(number))
        return part !== undefined && etagOf(part) === etag?.replaceAll("&quot;", "\"") ? part : null
      })
      if (parts.includes(null) || parts.length !== upload.parts.size) return error(400, "InvalidPart")
      const stored = store(upload.name, { bytes: Buffer.concat(parts as Array<Buffer>), put: upload.put }, condition)
      if (stored.status === 200) uploads.delete(uploadId)
      return stored.status === 200 ? { status: 200, body: "<CompleteMultipartUploadResult/>" } : stored
    }

    const answer = (method: string, url: URL, headers: http.IncomingHttpHeaders, body: Buffer): Answer => {
      const [, found, ...rest] = url.pathname.split("/")
      if (found !== bucket) return error(404, "NoSuchBucket")
      const name = rest.join("/")
      const uploadId = url.searchParams.get("uploadId")
      const put = String(headers["x-amz-meta-put"] ?? "")
      const condition = headers["if-none-match"]
      const stored = objects.get(name)
      if (method === "POST" && url.searchParams.has("uploads")) {
        const id = `up/${crypto.randomUUID()}+=`
        uploads.set(id, { name, put, parts: new Map() })
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
        upload.parts.set(Number(url.searchParams.get("partNumber")), body)
        return { status: 200, headers: { etag: etagOf(body) } }
      }
      if (uploadId !== null) return complete(uploadId, body.toString("utf8"), condition)
      if (method === "PUT") return store(name, { bytes: body, put }, condition)
      if (method === "DELETE") {
        objects.delete(name)
        return { status: 204 }
      }
      if (stored === undefined) return method === "HEAD" ? { status: 404 } : error(404, "NoSuchKey")
      return method === "HEAD"
        ? { status: 200, headers: { "content-length": String(stored.bytes.length), "x-amz-meta-put": stored.put } }
        : partOf(stored, headers["range"])
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
        const refusal = refusalOf({ method, target, headers: headers as Record<string, string>, body }, key, Date.now())
        const fault = refusal === null ? takeFault(method) : undefined
        if (fault === "unanswered_before") return void request.socket.destroy()
        const answered = refusal !== null
          ? error(403, refusal)
          : fault === "refused"
          ? error(503, "SlowDown")
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
    const made: S3Server = { endpoint: `http://127.0.0.1:${port}`, objects, uploads, faults, requests }
    return made
  })
