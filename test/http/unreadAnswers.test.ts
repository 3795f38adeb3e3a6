import { describe, expect, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Redacted, Schedule, Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as App from "../../src/http/App.ts"
import * as Server from "../../src/http/Server.ts"
import * as Handler from "../../src/mcp/Handler.ts"
import * as Pages from "../support/http/pages.ts"
import { connect, request } from "../support/http/socket.ts"
import { metric } from "../support/metrics.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const mebibyte = 1024 * 1024

/** More than the system takes of an answer that nobody reads. */
const large = "x".repeat(16 * mebibyte)

const begun = Deferred.makeUnsafe<void>()
const ended = Deferred.makeUnsafe<void>()

const chunk = new TextEncoder().encode("y".repeat(64 * 1024))

/** Says something, nothing for a while, and something again. */
const quiet = Stream.make("first").pipe(
  Stream.concat(Stream.fromEffect(Effect.as(Effect.sleep("1500 millis"), "last"))),
  Stream.encodeText
)

const answers: Readonly<Record<string, () => HttpServerResponse.HttpServerResponse>> = {
  "/large": () => HttpServerResponse.text(large),
  "/small": () => HttpServerResponse.text("small"),
  "/quiet": () => HttpServerResponse.stream(quiet),
  "/endless": () =>
    HttpServerResponse.stream(
      Stream.repeat(Stream.make(chunk), Schedule.forever).pipe(
        Stream.onStart(Deferred.succeed(begun, undefined)),
        Stream.ensuring(Deferred.succeed(ended, undefined))
      )
    )
}

const app = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => answers[url]?.() ?? HttpServerResponse.empty({ status: 404 })
)

const cut = metric("console_unread_answers_total")

const times = { host: "127.0.0.1", port: 0, stallTime: "300 millis", answerTime: "1 minute" } as const

/** A server of the test's own with that application, and the port that it listens on. */
const start = Effect.fnUntraced(function*(options: Partial<Server.Options> = {}) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const context = yield* Layer.buildWithScope(
    Layer.effectDiscard(Server.serve(app)).pipe(
      Layer.provideMerge(Server.layerListen({ ...times, stopTime: "50 millis", ...options })),
      Layer.provide(SecureRandom.layerWebCrypto)
    ),
    scope
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  return "port" in address ? address.port : 0
})

/** A client that asks and then reads nothing until it is made to. */
const unreading = Effect.fnUntraced(function*(port: number, text: string, address?: string) {
  const connection = yield* connect(port, address)
  connection.limit(0)
  connection.write(text)
  return connection
})

/** Takes about so much of the answer in each tenth of two seconds, then the rest; returns the bytes that it got. */
const reading = Effect.fnUntraced(function*(port: number, perTenth: number) {
  const connection = yield* unreading(port, request("GET /large"))
  for (let tenth = 0; tenth < 20; tenth++) {
    connection.limit(perTenth)
    yield* Effect.sleep("100 millis")
  }
  connection.limit(Infinity)
  yield* Effect.repeat(Effect.sleep("10 millis"), {
    until: () => connection.isOver() || connection.received() >= large.length
  })
  return connection.received()
})

const expectCut = Effect.fnUntraced(function*(connection: Effect.Success<ReturnType<typeof connect>>) {
  connection.limit(Infinity)
  expect(yield* connection.gone).toBe("reset")
  expect(connection.received()).toBeLessThan(large.length)
})

describe("a client that does not read its answer", () => {
  layer(Layer.empty, { excludeTestServices: true })((it) => {
    it.effect("loses its connection where the write makes no progress, and one that reads loses nothing", () =>
      Effect.gen(function*() {
        const port = yield* start()
        const connection = yield* unreading(port, request("GET /large"))
        yield* Effect.sleep("1 second")
        yield* expectCut(connection)
        const reader = yield* connect(port)
        reader.write(request("GET /small"))
        expect((yield* reader.answer()).text).toBe("small")
        // An idle connection waits for its next request, and not for its client to read.
        yield* Effect.sleep("1 second")
        reader.write(request("GET /large"))
        yield* reader.until(large)
      }))

    it.effect("loses its connection although it goes on sending requests, or has sent its last", () =>
      Effect.gen(function*() {
        const port = yield* start()
        const [busy, finished] = [
          yield* unreading(port, request("GET /large")),
          yield* unreading(port, request("GET /large"))
        ]
        finished.end()
        for (let tenth = 0; tenth < 10; tenth++) {
          busy.write(request("GET /small"))
          yield* Effect.sleep("100 millis")
        }
        yield* expectCut(busy)
        yield* expectCut(finished)
      }))

    it.effect("keeps nobody else out: places that four addresses fill are free again once the writes have stood still", () =>
      Effect.gen(function*() {
        const port = yield* start({ maxConnections: 4, connectionsPerAddress: 1 })
        for (const host of [1, 2, 3, 4]) yield* unreading(port, request("GET /large"), `127.0.${host}.1`)
        const answered = Effect.gen(function*() {
          const connection = yield* connect(port, "127.0.5.1")
          connection.write(request("GET /small"))
          return (yield* connection.answer()).text
        }).pipe(Effect.scoped, Effect.exit)
        expect(Exit.isFailure(yield* answered)).toBe(true)
        yield* Effect.repeat(Effect.andThen(Effect.sleep("50 millis"), answered), {
          until: Exit.isSuccess
        }).pipe(Effect.timeout("5 seconds"))
      }))

    it.effect("that reads slowly gets the whole answer, unless it takes longer than a mebibyte may take", () =>
      Effect.gen(function*() {
        expect(yield* reading(yield* start({ stallTime: "2 seconds" }), mebibyte / 4)).toBeGreaterThanOrEqual(
          large.length
        )
        const short = yield* start({ stallTime: "2 seconds", answerTime: "500 millis" })
        expect(yield* reading(short, mebibyte / 20)).toBeLessThan(large.length)
      }))

    it.effect("of a stream ends the stream that waits for it, and no stream that has nothing to say", () =>
      Effect.gen(function*() {
        const port = yield* start({ answerTime: "500 millis" })
        const idle = yield* connect(port)
        idle.write(request("GET /quiet"))
        yield* idle.until("first")
        const stuck = yield* unreading(port, request("GET /endless"))
        yield* Deferred.await(begun)
        yield* Effect.timeout(Deferred.await(ended), "5 seconds")
        yield* expectCut(stuck)
        yield* idle.until("last")
      }))
  })

  const mounted = Effect.provideService(App.make, App.Mounts, [{ path: Handler.path, handler: Handler.within() }])
  const service = Layer.effectDiscard(Effect.flatMap(mounted, Server.serve)).pipe(
    Layer.provideMerge(Server.layerListen(times)),
    Layer.provideMerge(World.world(postgres))
  )
  layer(service, { excludeTestServices: true })((it) => {
    it.effect("loses its connection at the interface, at MCP, at pages and at documents", () =>
      Effect.gen(function*() {
        const { address } = yield* HttpServer.HttpServer
        const port = "port" in address ? address.port : 0
        const { admins, id } = yield* World.makeOrganization()
        yield* Effect.repeat(World.makeAccount(id), { times: 99 })
        const auth = (role: "owner") => `Authorization: Bearer ${Redacted.value(admins[role].key)}`
        const cookies = yield* Effect.replicateEffect(Pages.signIn(id, admins.owner.id), 4)
        const people = yield* Effect.replicateEffect(World.makePerson(id, "superadmin"), 4)
        const keys = people.map(({ key }) => key)
        const tools = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} })
        const asked = {
          rest: [request("GET /v1/accounts?limit=100", [auth("owner")])],
          mcp: keys.map((key) =>
            request("POST /mcp?toolsets=all", [
              `Authorization: Bearer ${Redacted.value(key)}`,
              "Accept: application/json, text/event-stream"
            ], tools)
          ),
          pages: cookies.map((cookie) => request("GET /console/accounts", [`Cookie: ${cookie}`])),
          documents: [request("GET /openapi.json")]
        }
        for (const [name, requests] of Object.entries(asked)) {
          const connection = yield* connect(port)
          connection.write(requests[0] ?? "")
          expect([name, (yield* connection.answer()).status]).toEqual([name, 200])
          connection.limit(0)
          // A credential has 120 requests in a minute.
          for (let count = 0; count < 110; count++) connection.write(requests.join(""))
          const before = yield* cut
          yield* Effect.repeat(Effect.andThen(Effect.sleep("100 millis"), cut), { until: (now) => now > before })
          yield* expectCut(connection)
        }
      }), 60_000)
  })
})
