/** The address at which the other processes of the service reach this one: it takes sealed messages and nothing else. */
import { Clock, Context, Duration, Effect, Layer, Metric, Schema, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import * as http from "node:http"
import { Peppers } from "../crypto/Peppers.ts"
import { Seals } from "./Sealed.ts"

/** The most that a message holds, in bytes. */
export const largestMessage = 1_048_576

/** Connections at the same time, and the time to send a message, in ms. */
const connections = 256
const requestTimeout = 10_000

/** The time that a process that stops waits for what it answers. */
const stopTimeout = Duration.seconds(10)

export interface ListenOptions {
  readonly host: string
  /** 0 for one that is free. */
  readonly port: number
}

/** The address cannot be listened at; the message says which. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", { message: Schema.String }) {}

/** Answers a message of another process. */
export type Answering = (value: unknown) => Effect.Effect<unknown>

export class Listener extends Context.Service<Listener, {
  /** The name of this process, which no other one ever has. */
  readonly name: string
  readonly host: string
  readonly port: number
  readonly seals: Seals
  /** Answers messages for as long as the scope lasts, in whose end those under way finish; others are refused. */
  readonly answering: (answering: Answering) => Effect.Effect<void, never, Scope.Scope>
}>()("org-security-console/layers/cluster/Listener") {}

const refusals = Metric.counter("console_cluster_refused_total", {
  description: "Messages at the address for other processes that were forged, late, repeated or too large",
  incremental: true
})

/** The body; undefined where it is too large or ends early. */
const bodyOf = async (request: http.IncomingMessage): Promise<Buffer | undefined> => {
  const parts: Array<Buffer> = []
  let size = 0
  try {
    for await (const part of request) {
      size += part.length
      if (size > largestMessage) return undefined
      parts.push(part)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(parts)
}

export const layer = ({ host, port }: ListenOptions): Layer.Layer<
  Listener,
  ListenFailed,
  Peppers | SecureRandom.SecureRandom
> =>
  Layer.effect(
    Listener,
    Effect.gen(function*() {
      const name = yield* (yield* SecureRandom.SecureRandom).uuidV7()
      const seals = new Seals(yield* Peppers)
      const context = yield* Effect.context<never>()
      const run = Effect.runPromiseWith(context)
      const real = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
      let answer: Answering | null = null
      let underWay = 0

      const refuse = (response: http.ServerResponse) => {
        void run(Metric.update(refusals, 1))
        response.writeHead(404, { connection: "close" }).end()
      }

      const take = async (request: http.IncomingMessage, response: http.ServerResponse) => {
        const body = request.method === "POST" && request.url === "/" ? await bodyOf(request) : undefined
        const opened = body && seals.openRequest(body, name, await run(Clock.currentTimeMillis))
        if (opened === undefined || answer === null) return refuse(response)
        // The sender knows by this that it has come: from here on it is not sent again.
        response.writeHead(200, { "content-type": "application/octet-stream" }).flushHeaders()
        underWay += 1
        try {
          response.end(seals.sealAnswer(await run(answer(opened.value)), opened.nonce))
        } finally {
          underWay -= 1
        }
      }

      const server = http.createServer({ requestTimeout, headersTimeout: requestTimeout }, (request, response) => {
        take(request, response).catch(() => response.destroy())
      })
      server.maxConnections = connections
      server.keepAliveTimeout = 60_000
      yield* Effect.acquireRelease(
        Effect.callback<void, ListenFailed>((resume) => {
          server.once("error", (error: NodeJS.ErrnoException) =>
            resume(Effect.fail(
              new ListenFailed({
                message: `The address for other processes, ${host}:${port}, cannot be used: ${error.code}.`
              })
            )))
          server.listen(port, host, () => resume(Effect.void))
        }),
        () =>
          Effect.callback<void>((resume) => {
            server.close(() => resume(Effect.void))
            server.closeIdleConnections()
          }).pipe(
            Effect.timeoutOption("5 seconds"),
            Effect.andThen(Effect.sync(() => server.closeAllConnections())),
            real
          )
      )
      const address = server.address()
      return {
        name,
        host,
        port: typeof address === "object" && address !== null ? address.port : port,
        seals,
        answering: (next) =>
          Effect.acquireRelease(
            Effect.sync(() => void (answer = next)),
            () =>
              Effect.sync(() => void (answer = null)).pipe(
                Effect.andThen(Effect.repeat(Effect.sleep("20 millis"), { until: () => underWay === 0 })),
                Effect.timeoutOption(stopTimeout),
                real
              )
          )
      }
    })
  )
