/** A host of documents on this machine, and an internet in which every name leads to it. */
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as https from "node:https"
import { documentDeadline } from "../../../src/domain/oauth/OAuth.ts"
import type { Internet } from "../../../src/layers/documents/Https.ts"
import { listening } from "./loopback.ts"

/** Made for these tests, and good for app.example and other.example alone. */
export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggRsq0lXWBeCJ02Ez
CFZdyFoIkxd/viPFkeyJF8gQ1hahRANCAASLLMzjpexUW9F/4KaV06zYr0rd/s1A
Hj7wV759BXN8NEIZy6VILQd+zWnwPXvwQxepSD8Qe/qbPBOrEtiAqi23
-----END PRIVATE KEY-----
`
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBdTCCARygAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAthcHAuZXhh
bXBsZTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLYXBwLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASLLMzjpexU
W9F/4KaV06zYr0rd/s1AHj7wV759BXN8NEIZy6VILQd+zWnwPXvwQxepSD8Qe/qb
PBOrEtiAqi23o1kwVzAPBgNVHRMBAf8EBTADAQH/MCUGA1UdEQQeMByCC2FwcC5l
eGFtcGxlgg1vdGhlci5leGFtcGxlMB0GA1UdDgQWBBRSlO8jrGPoNHBkvZ6lkMci
ipR/BzAKBggqhkjOPQQDAgNHADBEAiBL86A+xYolOp6sh/2RPP7+DWAd7Ozb+8zM
TASWhWGmUgIgfTl2YClIo3ExJEONoNqvDFcjqC1yM4Hiaxcg/wYVVa4=
-----END CERTIFICATE-----
`

type Answers = (request: IncomingMessage, response: ServerResponse) => void

/** Answers JSON, with what else the head says. */
export const json = (body: unknown, headers: Record<string, string> = {}): Answers => (_, response) => {
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

/** The host, which answers as `answer` says and keeps what it is asked, until the test has ended. */
export const host = Effect.gen(function*() {
  const asked: Array<string> = []
  const made = { answer: json({}), asked, connections: 0 }
  const server = https.createServer({ key, cert: certificate }, (request, response) => {
    asked.push(request.url ?? "")
    made.answer(request, response)
  })
  server.on("connection", () => made.connections++)
  server.on("tlsClientError", () => {})
  const port = yield* listening(server)
  const internet: Internet = {
    deadline: documentDeadline,
    resolve: () => Promise.resolve(["127.0.0.1"]),
    isRefused: () => false,
    request: (options: https.RequestOptions, answered: (response: IncomingMessage) => void) =>
      https.request({ ...options, ca: certificate }, answered)
  }
  const origin = `https://app.example:${port}`
  return Object.assign(made, { internet, origin, address: `${origin}/client.json` })
})
