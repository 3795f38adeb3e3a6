import { describe, expect, it, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import { IpNetwork } from "effect/net"
import * as Server from "../../src/http/Server.ts"
import { TrustedProxies } from "../../src/transport/TransportSettings.ts"
import { connect, request, type WireAnswer } from "../support/http/socket.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const limits = { host: "127.0.0.1", port: 0, headTime: "300 millis", requestTime: "600 millis" } as const

const served = Server.layer.pipe(
  Layer.provideMerge(Server.layerListen(limits)),
  Layer.provideMerge(World.world(postgres))
)

const port = Effect.map(HttpServer.HttpServer, ({ address }) => "port" in address ? address.port : 0)

const open = Effect.flatMap(port, connect)

/** Everything that one connection is answered until it is closed; the text is written at once. */
const exchange = (text: string, head = false): Effect.Effect<WireAnswer, never, HttpServer.HttpServer> =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* open
    connection.write(text)
    const answer = yield* connection.answer(head)
    expect(yield* connection.closed).toBe("")
    return answer
  }))

const expectEnvelope = (answer: WireAnswer, status: number, code: string, param?: string) => {
  expect(answer).toMatchObject({ status, body: { error: { code, ...(param === undefined ? {} : { param }) } } })
  expect(Object.keys(answer.body)).toEqual(["error"])
  expect(answer.body.error.message).not.toBe("")
  expect(answer.headers.get("content-type")).toBe("application/json")
  expect(answer.headers.get("request-id")).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
}

const close = "Connection: close"
const owner = Effect.map(World.makeOrganization(), ({ admins, id }) => ({
  id,
  auth: `Authorization: Bearer ${Redacted.value(admins.owner.key)}`
}))
const organization = (...headers: ReadonlyArray<string>) => request("GET /v1/organization", headers)
const choices = JSON.stringify({ security: false, storage: false, news: false, offers: false })

describe("the server on a socket", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect("answers over HTTP/1.1, and every answer has a Request-Id of its own", () =>
      Effect.gen(function*() {
        const { auth, id } = yield* owner
        const connection = yield* open
        connection.write(organization(auth))
        const first = yield* connection.answer()
        connection.write(organization(auth))
        const second = yield* connection.answer()
        expect([first.status, first.body.id, second.status]).toEqual([200, id, 200])
        expect(first.headers.get("request-id")).not.toBe(second.headers.get("request-id"))
      }))

    it.effect("answers HEAD with the head of GET and no body", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        const got = yield* exchange(organization(auth, close))
        const head = yield* exchange(request("HEAD /v1/organization", [auth, close]), true)
        expect([head.status, head.headers.get("content-length")]).toEqual([200, got.headers.get("content-length")])
        expect(head.headers.get("content-length")).not.toBe("0")
        expect(yield* exchange(request("HEAD /v1/nothing", [close]), true)).toMatchObject({ status: 404, text: "" })
      }))

    it.effect("answers 431 to a head over 16 KiB, in the envelope", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        const room = Server.maxHeadSize - 1024
        expect((yield* exchange(organization(auth, close, `X: ${"a".repeat(room)}`))).status).toBe(200)
        expectEnvelope(
          yield* exchange(organization(auth, `X: ${"a".repeat(Server.maxHeadSize)}`)),
          431,
          "parameter_invalid"
        )
      }))

    it.effect("answers 431 even while a client goes on sending what is far too large, and does not reset it", () =>
      Effect.gen(function*() {
        const connection = yield* open
        connection.write("GET /v1/organization HTTP/1.1\r\nX: ")
        for (let chunk = 0; chunk < 16; chunk++) connection.write("a".repeat(64 * 1024))
        expectEnvelope(yield* connection.answer(), 431, "parameter_invalid")
        connection.write("a".repeat(1024 * 1024))
        connection.end()
        expect(yield* connection.gone).toBe("closed")
      }))

    it.effect("answers 408 to a client that takes too long with its head, or with its body", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        expectEnvelope(yield* exchange("GET /v1/organization HTTP/1.1\r\nHost: con"), 408, "parameter_invalid")
        const slow = request("PUT /v1/me/mail-preferences", [auth], choices).slice(0, -1)
        expectEnvelope(yield* exchange(slow), 408, "parameter_invalid")
      }))

    it.effect("answers 400 in the envelope to what is not HTTP", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        for (
          const garbage of [
            "hello\r\n\r\n",
            "\u0016\u0003\u0001\u0002\u0000\u0001\u0000",
            "BREW /v1/organization HTTP/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            request("PUT /v1/me/mail-preferences", ["Content-Length: -3"]),
            request("PUT /v1/me/mail-preferences", ["Transfer-Encoding: chunked", "Content-Length: 3"]),
            request("PUT /v1/me/mail-preferences", [auth, "Transfer-Encoding: chunked"]) + "zz\r\n",
            organization("X: a\u0000b"),
            organization("X : a")
          ]
        ) {
          expectEnvelope(yield* exchange(garbage), 400, "parameter_invalid")
        }
      }))

    it.effect("answers 400 with the name of the header to a request without a host, and 404 to two hosts", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        const nameless = `GET /v1/organization HTTP/1.1\r\n${auth}\r\n${close}\r\n\r\n`
        expectEnvelope(yield* exchange(nameless), 400, "parameter_invalid", "Host")
        const two = organization("Host: localhost", auth, close)
        expectEnvelope(yield* exchange(two), 404, "resource_missing")
      }))

    it.effect("takes the host of an absolute target, as proxies send it", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        const of = (host: string) => exchange(request(`GET http://${host}/v1/organization`, [auth, close]))
        expect((yield* of("localhost")).status).toBe(200)
        expectEnvelope(yield* of("elsewhere.test"), 404, "resource_missing")
      }))

    it.effect("answers 401 to two credentials at once", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        expectEnvelope(yield* exchange(organization(auth, auth, close)), 401, "invalid_api_key")
      }))

    it.effect("asks for the body of an expecting client once it is admitted, and not before", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        const connection = yield* open
        const ask = (auth: string) =>
          request("PUT /v1/me/mail-preferences", [auth, "Expect: 100-continue"], choices).slice(0, -choices.length)
        connection.write(ask(auth))
        expect(yield* connection.until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n")
        connection.write(choices)
        expect((yield* connection.answer()).status).toBe(200)
        const refused = yield* open
        refused.write(ask("Authorization: Bearer wrong"))
        expectEnvelope(yield* refused.answer(), 401, "invalid_api_key")
      }))

    it.effect("serves a request whose expectation nobody knows, and one that asks for another protocol", () =>
      Effect.gen(function*() {
        const { auth } = yield* owner
        for (
          const headers of [
            ["Expect: a-miracle"],
            ["Connection: Upgrade", "Upgrade: websocket"],
            ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"]
          ]
        ) {
          const connection = yield* open
          connection.write(organization(auth, ...headers))
          expect((yield* connection.answer()).status).toBe(200)
          connection.write(request("PUT /v1/me/mail-preferences", [
            auth,
            ...headers,
            "Content-Type: application/json",
            "Transfer-Encoding: chunked"
          ]))
          connection.write(`${choices.length.toString(16)}\r\n${choices}\r\n0\r\n\r\n`)
          expect((yield* connection.answer()).status).toBe(200)
        }
      }))

    it.effect("answers what arrived whole before it answers garbage behind it", () =>
      Effect.gen(function*() {
        const { auth, id } = yield* owner
        const connection = yield* open
        connection.write(`${organization(auth)}${organization(auth)}garbage\r\n\r\n`)
        expect((yield* connection.answer()).body.id).toBe(id)
        expect((yield* connection.answer()).body.id).toBe(id)
        expectEnvelope(yield* connection.answer(), 400, "parameter_invalid")
        expect(yield* connection.closed).toBe("")
      }))

    it.effect("keeps a connection usable after a refusal, and after a body that is too large", () =>
      Effect.gen(function*() {
        const { auth, id } = yield* owner
        const refused = yield* open
        refused.write(organization())
        expectEnvelope(yield* refused.answer(), 401, "invalid_api_key")
        refused.write(organization(auth))
        expect((yield* refused.answer()).body.id).toBe(id)
        const large = yield* open
        large.write(request("PUT /v1/me/mail-preferences", [auth], " ".repeat(64 * 1024 + 1)))
        expectEnvelope(yield* large.answer(), 400, "parameter_invalid", "body")
      }))

    it.effect("counts wrong credentials by the address of the peer", () =>
      Effect.gen(function*() {
        const connection = yield* open
        const statuses: Array<number> = []
        for (let attempt = 0; attempt <= 120; attempt++) {
          connection.write(organization("Authorization: Bearer wrong", "X-Forwarded-For: 192.0.2.1"))
          statuses.push((yield* connection.answer()).status)
        }
        expect(statuses.indexOf(429)).toBeGreaterThan(100)
        expect(statuses.at(-1)).toBe(429)
        const { auth } = yield* owner
        connection.write(organization(auth))
        expect((yield* connection.answer()).status).toBe(200)
      }))
  })
})

describe("the server's address", () => {
  layer(World.world(postgres), { excludeTestServices: true })((it) => {
    it.effect("is known before the service is built, and is the loopback's", () =>
      Effect.gen(function*() {
        const context = yield* Layer.build(Server.layerListen(limits))
        const { address } = Context.get(context, HttpServer.HttpServer)
        expect(address).toMatchObject({ port: expect.any(Number) })
        expect(HttpServer.formatAddress(address)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      }))
  })
})

describe("the server before it serves", () => {
  layer(Server.layerListen(limits).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), {
    excludeTestServices: true
  })((it) => {
    it.effect("S7-10: answers 503 to a request that comes between the listening and the serving", () =>
      Effect.gen(function*() {
        const answer = yield* exchange(request("GET /readyz", [close]))
        expectEnvelope(answer, 503, "service_unavailable")
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
      }))
  })
})

describe("the server's open connections", () => {
  const few = Server.layerListen({ host: "127.0.0.1", port: 0, maxConnections: 2 })
  layer(few.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), { excludeTestServices: true })((it) => {
    it.effect("are so many at most: a further one is closed at once, and has room when another has gone", () =>
      Effect.gen(function*() {
        const asked = request("GET /readyz")
        const kept = yield* Effect.forEach([1, 2], () => open)
        for (const connection of kept) {
          connection.write(asked)
          expect((yield* connection.answer()).status).toBe(503)
        }
        expect(yield* Effect.flatMap(open, ({ closed }) => closed)).toBe("")
        for (const connection of kept) {
          connection.write(request("GET /readyz", [close]))
          yield* connection.answer()
          yield* connection.closed
          connection.abort()
        }
        const answered = Effect.flatMap(open, (next) => {
          next.write(asked)
          return Effect.exit(next.answer())
        })
        yield* Effect.repeat(Effect.scoped(answered), { until: Exit.isSuccess })
      }))
  })
  it.live("are so many of one address that is no trusted proxy: it keeps nobody else out", () =>
    Effect.gen(function*() {
      const listening = Server.layerListen({ host: "127.0.0.1", port: 0, connectionsPerAddress: 2 })
      const proxies = [Result.getOrThrow(IpNetwork.fromString("127.0.0.3/32"))]
      const context = yield* Layer.build(listening.pipe(
        Layer.provide(Layer.succeed(TrustedProxies, proxies)),
        Layer.provide(SecureRandom.layerWebCrypto)
      ))
      const openFrom = (address: string) =>
        Effect.flatMap(Effect.provide(port, context), (bound) => connect(bound, address))
      const answered = Effect.fnUntraced(function*(address: string) {
        const connection = yield* openFrom(address)
        connection.write(request("GET /readyz"))
        expect((yield* connection.answer()).status).toBe(503)
        return connection
      })
      const [first] = [yield* answered("127.0.0.1"), yield* answered("127.0.0.1")]
      expect(yield* Effect.flatMap(openFrom("127.0.0.1"), ({ closed }) => closed)).toBe("")
      yield* answered("127.0.0.2")
      for (let count = 0; count < 3; count++) yield* answered("127.0.0.3")
      first.abort()
      yield* Effect.repeat(Effect.exit(Effect.scoped(answered("127.0.0.1"))), { until: Exit.isSuccess })
    }).pipe(Effect.scoped))
  it.live("are twice as many of one network as of one address, and become free when they close", () =>
    Effect.gen(function*() {
      const listening = Server.layerListen({ host: "127.0.0.1", port: 0, connectionsPerAddress: 2 })
      const context = yield* Layer.build(listening.pipe(
        Layer.provide(Layer.succeed(TrustedProxies, [])),
        Layer.provide(SecureRandom.layerWebCrypto)
      ))
      const bound = yield* Effect.provide(port, context)
      const answered = Effect.fnUntraced(function*(address: string) {
        const connection = yield* connect(bound, address)
        connection.write(request("GET /readyz"))
        expect((yield* connection.answer()).status).toBe(503)
        return connection
      })
      const refused = (address: string) => Effect.flatMap(connect(bound, address), ({ closed }) => closed)
      const network = ["127.0.9.1", "127.0.9.1", "127.0.9.2", "127.0.9.3"]
      const [first] = yield* Effect.forEach(network, answered)
      expect(yield* refused("127.0.9.4")).toBe("")
      yield* answered("127.0.8.4")
      first?.abort()
      yield* Effect.repeat(Effect.exit(Effect.scoped(answered("127.0.9.4"))), { until: Exit.isSuccess })
    }).pipe(Effect.scoped))
})
