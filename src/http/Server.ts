/** The Node server under the service: its limits, and the answers that Node writes itself. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { type Context, Duration, Effect, Layer, Metric, Schedule, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { IpNetwork } from "effect/net"
import * as http from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { ParameterInvalid, ServiceUnavailable } from "../domain/Failure.ts"
import { answerStallTime, answerTime as defaultAnswerTime, defaultMaxClients, fewClients } from "../domain/Limits.ts"
import { addressShares } from "../domain/NetworkAddress.ts"
import { answer } from "../transport/Answer.ts"
import { isTrusted } from "../transport/ClientAddress.ts"
import { endless } from "../transport/EventTurns.ts"
import { makeRequestId, TrustedProxies } from "../transport/TransportSettings.ts"
import * as App from "./App.ts"
import type { AnswerLimits } from "./Backlog.ts"
import { Pipeline } from "./Pipeline.ts"

export interface Options {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** The time that a client may take to send the head of a request; 10 seconds by default. */
  readonly headTime?: Duration.Input
  /** The time that a client may take to send a whole request; 30 seconds by default. */
  readonly requestTime?: Duration.Input
  /** The longest that the client of an answer may take nothing of it; 15 seconds by default. */
  readonly stallTime?: Duration.Input
  /** The longest that the client of an answer may take for it, or for each MiB of it; 2 minutes by default. */
  readonly answerTime?: Duration.Input
  /** Open connections at most, of which each may hold some requests in memory; further ones are closed immediately. */
  readonly maxConnections?: number
  /**
   * Those of one address at most, unless it is a trusted proxy; a quarter of all by default. Its /24 or /48 may have twice
   * as many, its /32 of IPv6 three times.
   */
  readonly connectionsPerAddress?: number
  /** The time that a stopping server waits for the requests in flight; 20 seconds by default. */
  readonly stopTime?: Duration.Input
}

/** The size of the head of a request at most, in bytes. */
export const maxHeadSize = 16 * 1024

/** The time that a refused client is listened to, so that it reads the answer before the connection is gone. */
const lingering = Duration.seconds(1)

const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The head of the request is too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive."]
}

const refusal = (requestId: string, code: string | undefined) => {
  const [status, message] = refusals[code ?? ""] ?? [400, "The request is not HTTP."]
  const body = JSON.stringify(answer(new ParameterInvalid({ message })).body)
  return [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
    "",
    body
  ].join("\r\n")
}

/** Answers a request that came between the listening and the serving. */
const early = (response: http.ServerResponse) => (requestId: string) => {
  const { body, headers, status } = answer(new ServiceUnavailable({}))
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "request-id": requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff"
  })
  response.end(text)
}

type Heading = http.OutgoingHttpHeaders | Array<http.OutgoingHttpHeader>
type HeadParts = [message?: string | Heading, headers?: Heading]

/**
 * A response whose head and text are one write. Node makes two where it is to compare the length of a body with its
 * header, which the adapter asks for; the adapter has counted that length itself.
 */
class Response<Request extends http.IncomingMessage = http.IncomingMessage> extends http.ServerResponse<Request> {
  /** The answer has no end of its own. Node forgets the headers of a head that is written at once. */
  isEndless = false

  override writeHead(status: number, ...[message, headers]: HeadParts): this {
    const named = typeof message === "object" ? message : headers
    this.isEndless = named !== undefined && endless in named
    return typeof message === "object" ? super.writeHead(status, message) : super.writeHead(status, message, headers)
  }
}
Object.defineProperty(Response.prototype, "strictContentLength", { get: () => false, set: () => {} })

const pipelines = new WeakMap<Duplex, Pipeline>()

/** The requests of a connection; Node knows it from its first byte on. */
const pipelineOf = (socket: Duplex): Pipeline => {
  const pipeline = pipelines.get(socket) ?? new Pipeline(socket)
  pipelines.set(socket, pipeline)
  return pipeline
}

/** Node's server, but that each connection ends with the answer it waits for once the server is closing. */
class DrainingServer extends http.Server {
  readonly #pipelines = new Map<Pipeline, Socket>()

  enlist(response: http.ServerResponse): void {
    const { socket } = response.req
    const pipeline = pipelineOf(socket)
    if (!this.#pipelines.has(pipeline)) {
      this.#pipelines.set(pipeline, socket)
      socket.once("close", () => this.#pipelines.delete(pipeline))
    }
    response.shouldKeepAlive &&= this.listening
    pipeline.add(response)
    response.once("close", () => pipeline.remove(response))
  }

  /**
   * Resets the connections whose clients have had their time, and returns how many they were. Closed in the ordinary
   * way, they would leave what is unread in the system's memory.
   */
  resetExhausted(limits: AnswerLimits): number {
    const exhausted = [...this.#pipelines].filter(([pipeline]) => pipeline.isExhausted(limits))
    for (const [, socket] of exhausted) socket.resetAndDestroy()
    return exhausted.length
  }

  override close(callback?: (error?: Error) => void): this {
    for (const [{ owed }, socket] of this.#pipelines) {
      for (const response of owed) response.shouldKeepAlive = false
      if (owed.some((response) => response instanceof Response && response.isEndless)) socket.destroy()
    }
    return super.close(callback)
  }
}

/**
 * Answers a request that never became one: its head is malformed, too large, or too late, or its body is.
 *
 * Requests that arrived whole before it on the same connection are answered first.
 */
const refuse = Effect.fnUntraced(function*(requestId: string, error: NodeJS.ErrnoException, socket: Duplex) {
  const pipeline = pipelineOf(socket)
  for (const response of pipeline.owed) {
    if (response.req.complete) yield* pipeline.whenDone(response)
  }
  if (!socket.writable || pipeline.owed.some(({ headersSent }) => headersSent)) {
    socket.destroy()
    return
  }
  socket.end(refusal(requestId, error.code))
  yield* Effect.sleep(lingering)
  socket.destroy()
})

/**
 * Limits the open connections of an address, and those of its networks: each wider one, an IPv4 /24 or an IPv6 /48 and
 * /32, has once more as many. One customer can have all addresses of such a network.
 */
const limitAddresses = (server: http.Server, most: number, trusted: ReadonlyArray<IpNetwork.IpNetwork>) => {
  const open = new Map<string, number>()
  server.on("connection", (socket) => {
    const peer = socket.remoteAddress
    if (peer === undefined || isTrusted(peer, trusted)) return
    const shares = addressShares(peer).toReversed()
    if (shares.some((share, width) => (open.get(share) ?? 0) >= most * (width + 1))) {
      socket.destroy()
      return
    }
    for (const share of shares) open.set(share, (open.get(share) ?? 0) + 1)
    socket.once("close", () => {
      for (const share of shares) {
        const left = (open.get(share) ?? 0) - 1
        if (left > 0) open.set(share, left)
        else open.delete(share)
      }
    })
  })
}

const unread = Metric.counter("console_unread_answers_total", {
  description: "Connections that were ended because their clients did not take an answer in time",
  incremental: true
})

/** Checks all connections once a second, or more often within short times, and ends those whose clients do not read. */
const resetExhausted = (server: DrainingServer, stallTime: Duration.Input, answerTime: Duration.Input) => {
  const times = [stallTime, answerTime].map(Duration.toMillis)
  const interval = Math.min(1000, ...times.map((time) => time / 4))
  const [stalled = 0, answer = 0] = times.map((time) => Math.ceil(time / interval))
  return Effect.sync(() => server.resetExhausted({ stalled, answer })).pipe(
    Effect.flatMap((reset) => reset === 0 ? Effect.void : Metric.update(unread, reset)),
    Effect.repeat(Schedule.spaced(interval))
  )
}

/** The bound server; what it listens on is known before the service is built over it. */
export const layerListen = (
  {
    headTime = "10 seconds",
    maxConnections = defaultMaxClients,
    answerTime = defaultAnswerTime,
    connectionsPerAddress = Math.max(fewClients, Math.ceil(maxConnections / 4)),
    requestTime = "30 seconds",
    stallTime = answerStallTime,
    stopTime = "20 seconds",
    ...listen
  }: Options
) =>
  Layer.effect(
    HttpServer.HttpServer,
    Effect.gen(function*() {
      const random = yield* SecureRandom.SecureRandom
      const runFork = Effect.runForkWith(yield* Effect.context())
      const headersTimeout = Duration.toMillis(headTime)
      const requestTimeout = Duration.toMillis(requestTime)
      const server = new DrainingServer({
        ServerResponse: Response,
        headersTimeout,
        requestTimeout,
        connectionsCheckingInterval: Math.min(1000, headersTimeout, requestTimeout),
        maxHeaderSize: maxHeadSize,
        joinDuplicateHeaders: true,
        // The service speaks only HTTP/1.1, and answers a request without a host itself.
        shouldUpgradeCallback: () => false,
        requireHostHeader: false
      })
      server.maxConnections = maxConnections
      limitAddresses(server, connectionsPerAddress, yield* TrustedProxies)
      server.on("connection", pipelineOf)
      for (const event of ["request", "checkContinue"] as const) {
        server.on(event, (_, response) => {
          server.enlist(response)
          // Nothing is served yet, and nothing else would answer.
          if (server.listenerCount(event) === 1) runFork(Effect.map(makeRequestId(random), early(response)))
        })
      }
      server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
        if (!socket.writable || error.code === "ECONNRESET") {
          socket.destroy()
        } else {
          // Unread bytes would take the answer away from the client.
          pipelineOf(socket).stop()
          runFork(Effect.flatMap(makeRequestId(random), (requestId) => refuse(requestId, error, socket)))
        }
      })
      // An unknown expectation is ignored, so that the answer keeps the envelope.
      server.on("checkExpectation", (request, response) => server.emit("request", request, response))
      yield* Effect.forkScoped(resetExhausted(server, stallTime, answerTime))
      const listening = yield* NodeHttpServer.make(() => server, { ...listen, gracefulShutdownTimeout: stopTime })
      // Node does not end connections that have sent half a request, and would wait for them for ever.
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      return listening
    })
  )

/** Requests of one connection are served one after another, however many of them a client sends at once. */
const inTurn = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const response = NodeHttpServerRequest.toServerResponse(request)
    if (!(response instanceof http.ServerResponse)) return app
    const { socket } = response.req
    const pipeline = pipelineOf(socket)
    const before = pipeline.before(response)
    if (before === undefined) return socket.writable ? app : Effect.interrupt
    return Effect.interruptible(pipeline.whenDone(before)).pipe(
      Effect.flatMap(() => socket.writable ? app : Effect.interrupt)
    )
  })

/** Serves an app on the bound server; when its scope closes it takes no new request and lets those in flight finish. */
export const serve = (app: App.App): Effect.Effect<void, never, HttpServer.HttpServer | Scope.Scope> => {
  const serving: Effect.Effect<void, never, HttpServer.HttpServer | Scope.Scope> = HttpServer.serveEffect(inTurn(app))
  return Effect.updateContext(
    serving,
    (outer: Context.Context<HttpServer.HttpServer | Scope.Scope>) => App.around(app, outer)
  )
}

/** Serves the service on the bound server. */
export const layer = Layer.effectDiscard(Effect.flatMap(App.make, serve))
