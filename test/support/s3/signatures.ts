/** Signature Version 4 as a store checks it, by its own words and without the library that signs. */
import * as crypto from "node:crypto"

export interface SignedRequest {
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

export interface SigningKey {
  readonly keyId: string
  readonly secret: string
  readonly region: string
}

const sha256 = (text: string | Uint8Array): string => crypto.createHash("sha256").update(text).digest("hex")
const hmac = (key: string | Buffer, text: string): Buffer => crypto.createHmac("sha256", key).update(text).digest()

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalQuery = (query: string): string =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&")

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/

/** The signature that the request has to have, for the headers that it says are signed. */
export const signatureOf = (
  { headers, method, target }: SignedRequest,
  { region, secret }: SigningKey,
  signed: string
) => {
  const [path = "", query = ""] = target.split("?", 2)
  const time = headers["x-amz-date"] ?? ""
  const canonical = [
    method,
    path,
    canonicalQuery(query),
    ...signed.split(";").map((name) => `${name}:${(headers[name] ?? "").trim().replace(/\s+/g, " ")}`),
    "",
    signed,
    headers["x-amz-content-sha256"] ?? ""
  ].join("\n")
  const day = time.slice(0, 8)
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")
  const key = ["s3", "aws4_request"].reduce(hmac, hmac(hmac(`AWS4${secret}`, day), region))
  return hmac(key, text).toString("hex")
}

const apart = 15 * 60 * 1000

const timeOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))

/** The code that a store refuses the request with; null where its signature is good. */
export const refusalOf = (request: SignedRequest, key: SigningKey, now: number): string | null => {
  const { body, headers } = request
  const [, keyId, day, region, signed = "", signature = ""] = authorization.exec(headers["authorization"] ?? "") ?? []
  if (keyId === undefined) return "AccessDenied"
  if (keyId !== key.keyId) return "InvalidAccessKeyId"
  if (region !== key.region) return "AuthorizationHeaderMalformed"
  const names = signed.split(";")
  const needed = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))]
  if (!needed.every((name) => names.includes(name))) return "AccessDenied"
  const time = headers["x-amz-date"] ?? ""
  if (!(Math.abs(timeOf(time) - now) <= apart) || !time.startsWith(day ?? "")) return "RequestTimeTooSkewed"
  if (headers["x-amz-content-sha256"] !== sha256(body)) return "XAmzContentSHA256Mismatch"
  return signatureOf(request, key, signed) === signature ? null : "SignatureDoesNotMatch"
}
