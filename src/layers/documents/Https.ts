/** Fetches a document over https, only from plain addresses of the internet. */
import { Duration, Effect } from "effect"
import * as dns from "node:dns/promises"
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http"
import * as https from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { documentDeadline, maxDocumentSize } from "../../domain/oauth/OAuth.ts"
import { DocumentUnread } from "../../ports/oauth/OAuthPorts.ts"
import { isSpecial } from "./specialAddresses.ts"

/** The request besides its address. */
export interface HttpsRequest {
  readonly method: "GET" | "POST"
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** A document as it came. */
export interface FetchedDocument {
  readonly body: unknown
  readonly cacheControl: string
}

/** A process's view of the internet: how names are resolved, where it may go, and how it connects. */
export interface Internet {
  /** The time that a document may take, from the name of its host to its last byte. */
  readonly deadline: Duration.Duration
  resolve(host: string, signal: AbortSignal): Promise<ReadonlyArray<string>>
  isRefused(address: string): boolean
  request(options: https.RequestOptions, answered: (response: IncomingMessage) => void): ClientRequest
}

/** Asks the name servers themselves: what is in files of this machine is none of the internet's. */
const resolve: Internet["resolve"] = async (host, signal) => {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener("abort", cancel)
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  signal.removeEventListener("abort", cancel)
  return found.flatMap((each) => each.status === "fulfilled" ? each.value : [])
}

export const internet: Internet = {
  deadline: documentDeadline,
  resolve,
  isRefused: isSpecial,
  request: (options, answered) => https.request(options, answered)
}

const isIpv6 = (address: string): boolean => address.includes(":")

/**
 * Resolves a name for a connection: none of its addresses may be special, and it goes to the very ones that were
 * checked.
 */
const lookup = ({ isRefused, resolve }: Internet, signal: AbortSignal): LookupFunction => (host, options, callback) => {
  const fail = () => callback(new Error("The name has no address, or one that is not asked."), [])
  resolve(host, signal).then((found) => {
    const [first] = found
    if (first === undefined || found.some(isRefused)) return fail()
    return options.all === true
      ? callback(null, found.map((address) => ({ address, family: isIpv6(address) ? 6 : 4 })))
      : callback(null, first, isIpv6(first) ? 6 : 4)
  }, fail)
}

const json = /^application\/json\s*(?:;|$)/i

/** True if the head announces a document: no redirect, and JSON. */
const isDocument = (status: number | undefined, headers: IncomingHttpHeaders): boolean =>
  status === 200 && json.test(headers["content-type"] ?? "")

/** The text of an answer of at most so many bytes, without a compression that could unfold. */
export const textOf = async (response: IncomingMessage, most: number): Promise<string> => {
  const { headers } = response
  const plain = (headers["content-encoding"] ?? "identity").toLowerCase() === "identity"
  if (!plain || Number(headers["content-length"] ?? 0) > most) throw new Error("The answer is not read.")
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > most) throw new Error("The answer is too large.")
    chunks.push(bytes)
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
}

/** Asks once, by a connection of its own, and follows no redirect. */
export const ask = (
  address: string,
  { body, headers, method }: HttpsRequest,
  outside: Internet,
  signal: AbortSignal
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { hostname, pathname, port, protocol, search } = new URL(address)
    if (protocol !== "https:") return reject(new Error("The address is not https."))
    // An address in the place of the name would not be looked up.
    if (isIP(hostname) !== 0 || hostname.startsWith("[")) return reject(new Error("The host is not a name."))
    outside.request({
      method,
      hostname,
      port: port === "" ? undefined : Number(port),
      path: `${pathname}${search}`,
      headers: { ...headers, "accept-encoding": "identity", "user-agent": "org-security-console" },
      agent: false,
      lookup: lookup(outside, signal),
      maxHeaderSize: 16 * 1024,
      rejectUnauthorized: true,
      signal
    }, resolve).on("error", reject).end(body)
  })

/** Reads one document: every failure looks the same, so that nothing is revealed about the network. */
export const read = (address: string, outside: Internet) =>
  Effect.tryPromise({
    try: async (): Promise<FetchedDocument> => {
      const signal = AbortSignal.timeout(Duration.toMillis(outside.deadline))
      const asking = { method: "GET", headers: { accept: "application/json" } } as const
      const response = await ask(address, asking, outside, signal)
      try {
        if (!isDocument(response.statusCode, response.headers)) throw new Error("The answer is not a document.")
        return {
          body: JSON.parse(await textOf(response, maxDocumentSize)),
          cacheControl: response.headers["cache-control"] ?? ""
        }
      } finally {
        response.destroy()
      }
    },
    catch: () => new DocumentUnread()
  })
