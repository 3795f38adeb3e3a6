import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as diagnostics from "node:diagnostics_channel"
import { maxOutstanding } from "../../src/http/Pipeline.ts"
import * as Server from "../../src/http/Server.ts"
import { connect, request } from "../support/http/socket.ts"

const flood = 2000
/** How many requests the piece that is parsed may hold beside those that are waited for. */
const inOnePiece = 32

/** How many requests Node has parsed and not answered, at most, and now. */
const outstanding = Effect.gen(function*() {
  const counts = { now: 0, most: 0 }
  const started = () => {
    counts.now += 1
    counts.most = Math.max(counts.most, counts.now)
  }
  const finished = () => void (counts.now -= 1)
  diagnostics.subscribe("http.server.request.start", started)
  diagnostics.subscribe("http.server.response.finish", finished)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      diagnostics.unsubscribe("http.server.request.start", started)
      diagnostics.unsubscribe("http.server.response.finish", finished)
    })
  )
  return counts
})

/** Serves an app that answers its own path and body, after `before`; answers the port. */
const serving = Effect.fnUntraced(function*(before: (path: string) => Effect.Effect<void>) {
  yield* Server.serve(Effect.gen(function*() {
    const { text, url } = yield* HttpServerRequest.HttpServerRequest
    yield* before(url)
    return HttpServerResponse.text(`${url} ${yield* Effect.orDie(text)}`)
  }))
  const { address } = yield* HttpServer.HttpServer
  return "port" in address ? address.port : 0
})

const listening = Server.layerListen({ host: "127.0.0.1", port: 0 }).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => request(`GET /${from + at}`)).join("")

describe("requests that one connection sends at once", () => {
  layer(Layer.empty, { excludeTestServices: true })((it) => {
    it.effect("are read a few at a time, and answered all, in their order", () =>
      Effect.gen(function*() {
        const counts = yield* outstanding
        const held = yield* Latch.make()
        const begun = yield* Latch.make()
        const port = yield* serving((path) => path === "/0" ? Effect.andThen(begun.open, held.await) : Effect.void)
        const connection = yield* connect(port)
        yield* Effect.addFinalizer(() => held.open)
        connection.write(numbered(0, flood))
        yield* begun.await
        // Another connection's exchange is time enough for the first one's requests to be read.
        const other = yield* connect(port)
        other.write(request("GET /other"))
        expect((yield* other.answer()).text).toBe("/other ")
        expect(counts.now).toBeGreaterThanOrEqual(maxOutstanding)
        expect(counts.most).toBeLessThan(maxOutstanding + inOnePiece)
        yield* held.open
        for (let at = 0; at < flood; at++) expect((yield* connection.answer()).text).toBe(`/${at} `)
        expect(counts.most).toBeLessThan(maxOutstanding + inOnePiece)
      }).pipe(Effect.provide(listening)))

    it.effect("are served one at a time, in their order, however long each of them takes", () =>
      Effect.gen(function*() {
        const received: Array<string> = []
        const port = yield* serving((path) =>
          Effect.gen(function*() {
            received.push(`${path} begins`)
            yield* Effect.sleep(20 - 2 * Number(path.slice(1)))
            received.push(`${path} ends`)
          })
        )
        const connection = yield* connect(port)
        connection.write(numbered(0, 10))
        for (let at = 0; at < 10; at++) expect((yield* connection.answer()).text).toBe(`/${at} `)
        expect(received).toEqual(Array.from({ length: 10 }, (_, at) => [`/${at} begins`, `/${at} ends`]).flat())
      }).pipe(Effect.provide(listening)))

    it.effect("leave others their turn: those of another connection wait for a few of them each, not for all", () =>
      Effect.gen(function*() {
        let answered = 0
        const port = yield* serving((path) =>
          path === "/other" ? Effect.void : Effect.andThen(Effect.yieldNow, Effect.sync(() => void (answered += 1)))
        )
        const flooding = yield* connect(port)
        const [other, first] = [yield* connect(port), yield* Latch.make()]
        const reading = yield* Effect.forkChild(Effect.gen(function*() {
          for (let at = 0; at < flood; at++) {
            yield* flooding.answer()
            if (at === 0) yield* first.open
          }
        }))
        flooding.write(numbered(0, flood))
        yield* first.await
        const waited: Array<number> = []
        for (let ask = 0; ask < 20; ask++) {
          const before = answered
          other.write(request("GET /other"))
          yield* other.answer()
          waited.push(answered - before)
        }
        yield* Fiber.join(reading)
        // As many as are read ahead may be answered in one turn; a median keeps a busy machine's hiccups out.
        const median = waited.toSorted((one, another) => one - another)[10]
        expect(median).toBeLessThan(2 * (maxOutstanding + inOnePiece))
      }).pipe(Effect.provide(listening)))

    it.effect("keep their bodies, however they are cut, and behind a body that nobody has read yet", () =>
      Effect.gen(function*() {
        const port = yield* serving(() => Effect.yieldNow)
        const connection = yield* connect(port)
        const bodies = Array.from({ length: 60 }, (_, at) => `${at}:${"\r\n\r\n".repeat(at)}${"x".repeat(at * 97)}`)
        const text = bodies.map((body, at) => request(`POST /${at}`, [], body)).join("")
        const reading = yield* Effect.forkChild(
          Effect.forEach(
            bodies,
            (body, at) => Effect.map(connection.answer(), (answer) => expect(answer.text).toBe(`/${at} ${body}`))
          )
        )
        for (let at = 0; at < text.length; at += 7001) connection.write(text.slice(at, at + 7001))
        yield* Fiber.join(reading)
      }).pipe(Effect.provide(listening)))

    it.effect("are answered until what is no request, which is answered last", () =>
      Effect.gen(function*() {
        const port = yield* serving(() => Effect.yieldNow)
        const connection = yield* connect(port)
        connection.write(`${numbered(0, 100)}garbage\r\n\r\n${numbered(100, flood)}`)
        for (let at = 0; at < 100; at++) expect((yield* connection.answer()).text).toBe(`/${at} `)
        const last = yield* connection.answer()
        expect([last.status, last.body.error.code]).toEqual([400, "parameter_invalid"])
        expect(yield* connection.closed).toBe("")
      }).pipe(Effect.provide(listening)))
  })
})
