/** The Node server under the service: its limits, and the answers that Node writes itself. */
import { NodeHttpServer } from "@effect/platform-node"
import { Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import * as http from "node:http"
import type { Duplex } from "node:stream"
import { ParameterInvalid } from "../domain/Failure.ts"
import { answer } from "../edge/Answer.ts"
import * as App from "./App.ts"

export interface Options {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** How long a client may take to send its head and its whole request, and how long a stopping server waits. */
const headTime = Duration.seconds(10)
const requestTime = Duration.seconds(30)
const stopTime = Duration.seconds(20)
const maxHeadSize = 16 * 1024

const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The head of the request is too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive."]
}

/** Answers a request that never became one: its head is malformed, too large, or too late. */
const refuse = (requestId: string, error: NodeJS.ErrnoException, socket: Duplex) => {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy()
    return
  }
  const [status, message] = refusals[error.code ?? ""] ?? [400, "The request is not HTTP."]
  const body = JSON.stringify(answer(new ParameterInvalid({ message })).body)
  socket.end([
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    "Cache-Control: no-store",
    "Connection: close",
    "",
    body
  ].join("\r\n"))
}

/** The bound server; what it listens on is known before the service is built over it. */
export const layerListen = (options: Options) =>
  Layer.unwrap(Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const runFork = Effect.runForkWith(yield* Effect.context())
    const create = () => {
      const server = http.createServer({
        headersTimeout: Duration.toMillis(headTime),
        requestTimeout: Duration.toMillis(requestTime),
        connectionsCheckingInterval: 1000,
        maxHeaderSize: maxHeadSize,
        joinDuplicateHeaders: true
      })
      server.on("clientError", (error, socket) => {
        runFork(Effect.map(random.ulid, (ulid) => refuse(`req_${ulid.toLowerCase()}`, error, socket)))
      })
      // An expectation that nobody knows is no reason to leave the envelope: the request is served without it.
      server.on("checkExpectation", (request, response) => server.emit("request", request, response))
      return server
    }
    return NodeHttpServer.layerServer(create, { ...options, gracefulShutdownTimeout: stopTime })
  }))

/** Serves the app on the bound server; on the way down it takes no new request and lets those in flight finish. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(App.make, (app) => HttpServer.serveEffect(app))
)
