import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Latch, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import * as Server from "../../src/http/Server.ts"
import { makeExport } from "../support/archive/exports.ts"
import * as Fixtures from "../support/fixtures.ts"
import * as Pages from "../support/http/pages.ts"
import { connect, request } from "../support/http/socket.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** A server of the test's own, on the shared service: its port, and how to stop it. */
const start = Effect.fnUntraced(function*(options: Partial<Server.Options> = {}) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const context = yield* Layer.buildWithScope(
    Server.layer.pipe(Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0, ...options }))),
    scope
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  return { port: "port" in address ? address.port : 0, stop: Scope.close(scope, Exit.void) }
})

/** An account that somebody else holds locked until `release` is opened, and the request that waits for it. */
const locked = Effect.fnUntraced(function*() {
  const sql = yield* SqlClient.SqlClient
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id)
  const held = yield* Latch.make()
  const release = yield* Latch.make()
  yield* Effect.forkScoped(Fixtures.within(
    id,
    Effect.gen(function*() {
      yield* sql`select id from account where organization_id = ${id} and id = ${account} for update`
      yield* held.open
      yield* release.await
    })
  ))
  yield* held.await
  // What sessions wait for is shown to the role alone that they began as.
  const waiters = sql`select 1 from pg_locks where not granted
    and pid in (select pid from pg_stat_activity where datname = current_database())`
  const auth = `Authorization: Bearer ${Redacted.value(admins.owner.key)}`
  return {
    auth,
    pause: request(`POST /v1/accounts/${account}/pause`, [auth]),
    release: release.open,
    waits: Effect.repeat(waiters, { until: (rows) => rows.length > 0 }),
    waitsNoMore: Effect.repeat(waiters, { until: (rows) => rows.length === 0 }),
    /** The account's status, and the actions in the journal. */
    trace: Effect.gen(function*() {
      const { body } = yield* World.get(`/v1/accounts/${account}`, admins.owner.key)
      const events = yield* World.query<{ action: string }>(
        id,
        (sql) => sql`select action from journal_event where organization_id = ${id} order by sequence`
      )
      return [body.status, ...events.map(({ action }) => action)]
    })
  }
})

describe("a server on PostgreSQL", () => {
  layer(World.world(postgres), { excludeTestServices: true })((it) => {
    it.effect("serves pipelined requests one after another, in their order", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        const auth = `Authorization: Bearer ${Redacted.value(admins.owner.key)}`
        const { port } = yield* start()
        const connection = yield* connect(port)
        const verbs = Array.from({ length: 20 }, (_, index) => index % 2 === 0 ? "pause" : "resume")
        connection.write(verbs.map((verb) => request(`POST /v1/accounts/${account}/${verb}`, [auth])).join(""))
        for (const verb of verbs) {
          expect(yield* connection.answer()).toMatchObject({ status: 200, body: { action: `${verb}d` } })
        }
      }))

    it.effect("does not begin what was pipelined behind the request of a client that has gone away", () =>
      Effect.gen(function*() {
        const { auth, pause, release, trace, waits, waitsNoMore } = yield* locked()
        const { admins, id } = yield* World.makeOrganization()
        const other = yield* World.makeAccount(id)
        const theirs = `Authorization: Bearer ${Redacted.value(admins.owner.key)}`
        const server = yield* start()
        const connection = yield* connect(server.port)
        connection.write(pause + request(`POST /v1/accounts/${other}/pause`, [theirs]))
        yield* waits
        connection.abort()
        yield* waitsNoMore
        yield* release
        const next = yield* connect(server.port)
        next.write(request("GET /v1/organization", [auth]))
        expect((yield* next.answer()).status).toBe(200)
        yield* server.stop
        expect(yield* trace).toEqual(["protected"])
        expect(yield* World.journal(id)).toEqual([])
      }))
    it.effect("that stops lets the request in flight finish, takes no new one, and then closes its connections", () =>
      Effect.gen(function*() {
        const { auth, pause, release, trace, waits } = yield* locked()
        const server = yield* start()
        const [busy, idle] = [yield* connect(server.port), yield* connect(server.port)]
        idle.write(request("GET /v1/organization", [auth]))
        expect((yield* idle.answer()).status).toBe(200)
        busy.write(pause)
        yield* waits
        const stopping = yield* Effect.forkChild(server.stop, { startImmediately: true })
        expect(yield* idle.closed).toBe("")
        expect(Exit.isFailure(yield* Effect.exit(connect(server.port)))).toBe(true)
        expect(stopping.pollUnsafe()).toBeUndefined()
        yield* release
        const answer = yield* busy.answer()
        expect(answer).toMatchObject({ status: 200, body: { action: "paused" } })
        expect(answer.headers.get("connection")).toBe("close")
        expect(yield* busy.closed).toBe("")
        yield* Fiber.join(stopping)
        expect(yield* trace).toEqual(["paused", "account.paused"])
      }))

    it.effect("that stops cuts the events of a page, which have no end of their own", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const made = yield* makeExport(id, [yield* World.makeAccount(id)], admins.owner.id)
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const server = yield* start({ stopTime: "1 minute" })
        const connection = yield* connect(server.port)
        connection.write(request(`GET /console/archive-exports/${made}/events`, [`Cookie: ${cookie}`]))
        yield* connection.until("retry: 2000")
        yield* Effect.timeout(server.stop, "5 seconds")
        yield* connection.closed
      }))

    it.effect("that stops does not begin what was pipelined behind the request in flight", () =>
      Effect.gen(function*() {
        const { pause, release, trace, waits } = yield* locked()
        const { admins, id } = yield* World.makeOrganization()
        const other = yield* World.makeAccount(id)
        const theirs = `Authorization: Bearer ${Redacted.value(admins.owner.key)}`
        const server = yield* start()
        const connection = yield* connect(server.port)
        connection.write(pause + request(`POST /v1/accounts/${other}/pause`, [theirs]))
        yield* waits
        const stopping = yield* Effect.forkChild(server.stop, { startImmediately: true })
        yield* release
        expect((yield* connection.answer()).status).toBe(200)
        expect(yield* connection.closed).toBe("")
        yield* Fiber.join(stopping)
        expect(yield* trace).toEqual(["paused", "account.paused"])
        expect(yield* World.journal(id)).toEqual([])
      }))

    it.effect("gives a head a time of its own, however long the whole request may take", () =>
      Effect.gen(function*() {
        const server = yield* start({ headTime: "100 millis", requestTime: "1 hour" })
        const connection = yield* connect(server.port)
        connection.write("GET /v1/organization HTTP/1.1\r\nHost: con")
        expect((yield* connection.answer()).status).toBe(408)
      }))

    it.effect("that stops answers 503 in the envelope to what is not done in time, and none of it is done", () =>
      Effect.gen(function*() {
        const { pause, release, trace, waits } = yield* locked()
        const server = yield* start({ stopTime: "50 millis" })
        const connection = yield* connect(server.port)
        connection.write(pause)
        yield* waits
        yield* server.stop
        const answer = yield* connection.answer()
        expect(answer).toMatchObject({
          status: 503,
          body: { error: { type: "api_error", code: "service_unavailable" } }
        })
        expect(answer.headers.get("request-id")).toMatch(/^req_/)
        expect(answer.headers.get("retry-after")).toBe("5")
        yield* release
        expect(yield* trace).toEqual(["protected"])
      }))

    it.effect("that stops does not wait for clients that have sent half a request", () =>
      Effect.gen(function*() {
        const { auth } = yield* locked()
        const server = yield* start({ stopTime: "50 millis" })
        const head = yield* connect(server.port)
        const body = yield* connect(server.port)
        head.write("GET /v1/organization HTTP/1.1\r\nHost: con")
        body.write(request("PUT /v1/me/mail-preferences", [auth, "Expect: 100-continue"], "{}").slice(0, -2))
        expect(yield* body.until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n")
        yield* server.stop
        yield* head.closed
        yield* body.closed
      }))

    it.effect("lets go of the work of a client that has gone away, and leaves nothing half-written", () =>
      Effect.gen(function*() {
        const { pause, release, trace, waits, waitsNoMore } = yield* locked()
        const server = yield* start()
        const gone = yield* connect(server.port)
        gone.write(pause)
        yield* waits
        gone.abort()
        yield* waitsNoMore
        yield* release
        expect(yield* trace).toEqual(["protected"])
        const next = yield* connect(server.port)
        next.write(pause)
        expect((yield* next.answer()).status).toBe(200)
        expect(yield* trace).toEqual(["paused", "account.paused"])
      }))
  })
})
