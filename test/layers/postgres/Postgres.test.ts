import { describe, expect, it } from "@effect/vitest"
import { Context, type Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as net from "node:net"
import { ServiceUnavailable } from "../../../src/domain/Failure.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { postgresServer, postgresUrl } from "../../support/postgres/database.ts"
import { ownerUrl } from "../../support/postgres/databaseRoles.ts"

const connect = (url: string, maxConnections = 2, statementTimeout?: Duration.Input) =>
  Effect.map(
    Layer.build(
      Postgres.layer({
        url: Redacted.make(url),
        maxConnections,
        ...(statementTimeout === undefined ? {} : { statementTimeout })
      })
    ),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

const prepare = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  yield* sql`create table note (organization_id text not null, id int8 primary key)`
  yield* sql`grant select, insert on note to console_app`
})

const expectAway = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>) {
  expect(yield* Effect.flip(effect)).toBeInstanceOf(ServiceUnavailable)
})

/** A way to the server whose open connections can be made to swallow everything from then on. */
const silentProxy = Effect.fnUntraced(function*(port: number) {
  const pairs: Array<readonly [net.Socket, net.Socket]> = []
  const server = yield* Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<net.Server>((resolve) => {
        const server = net.createServer({ noDelay: true }, (near) => {
          const far = net.connect({ port, host: "127.0.0.1", noDelay: true })
          pairs.push([near, far])
          near.on("error", () => far.destroy()).pipe(far).on("error", () => near.destroy()).pipe(near)
        })
        server.listen(0, "127.0.0.1", () => resolve(server))
      })
    ),
    (server) =>
      Effect.sync(() => {
        server.close()
        for (const sockets of pairs) for (const socket of sockets) socket.destroy()
      })
  )
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    silence: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far).resume()
        far.unpipe(near).resume()
      }
    }
  }
})

describe("Postgres", () => {
  it.live("builds while the server is away, answers ServiceUnavailable, and works as soon as it is back", () =>
    Effect.gen(function*() {
      const { server, url } = yield* postgresServer()
      yield* Effect.promise(() => server.stop())
      const sql = yield* connect(url)
      yield* expectAway(Tenant.transaction(sql, "acme")(sql`select 1`))
      yield* expectAway(Tenant.directory(sql)(Effect.orDie(sql`select 1`)))
      yield* Effect.promise(() => server.start())
      expect(yield* Tenant.transaction(sql, "acme")(sql`select 1 as one`)).toEqual([{ one: 1 }])
    }))

  for (const end of ["stop", "kill"] as const) {
    it.live(`writes nothing by halves when the server is gone in mid-transaction (${end}), and recovers`, () =>
      Effect.gen(function*() {
        const { server, url } = yield* postgresServer({ fsync: true })
        const sql = yield* connect(url)
        yield* prepare(yield* connect(ownerUrl(url), 1))
        const acme = Tenant.transaction(sql, "acme")
        const insert = (id: number) => sql`insert into note (organization_id, id) values ('acme', ${id})`
        yield* acme(insert(1))
        yield* expectAway(acme(Effect.gen(function*() {
          yield* insert(2)
          yield* Effect.promise(() => server[end]())
          yield* Effect.orDie(insert(3))
        })))
        yield* expectAway(acme(insert(4)))
        yield* Effect.promise(() => server.start())
        yield* acme(insert(5))
        expect(yield* acme(sql`select id from note order by id`)).toEqual([{ id: 1 }, { id: 5 }])
      }))
  }

  it.live("answers within the deadline while the server is frozen, and recovers when it goes on", () =>
    Effect.gen(function*() {
      const { server, url } = yield* postgresServer()
      const sql = yield* connect(url)
      yield* prepare(yield* connect(ownerUrl(url), 1))
      const acme = Tenant.transaction(sql, "acme", { deadline: "200 millis" })
      const insert = (id: number) => sql`insert into note (organization_id, id) values ('acme', ${id})`
      yield* Effect.acquireRelease(
        Effect.sync(() => server.freeze()),
        () => Effect.sync(() => server.thaw())
      ).pipe(
        Effect.andThen(Effect.forEach([1, 2, 3, 4, 5, 6], (id) => expectAway(acme(insert(id))), {
          concurrency: "unbounded"
        })),
        Effect.scoped
      )
      const patient = Tenant.transaction(sql, "acme", { deadline: "20 seconds" })
      yield* patient(insert(7))
      expect(yield* patient(sql`select id from note order by id`)).toEqual([{ id: 7 }])
    }))

  it.effect("gives up connections whose other end never answers again, and opens new ones", () =>
    Effect.gen(function*() {
      const url = new URL(yield* postgresUrl)
      const proxy = yield* silentProxy(Number(url.port))
      url.port = String(proxy.port)
      const sql = yield* connect(url.href, 2)
      const acme = Tenant.transaction(sql, "acme")
      yield* Effect.forEach([1, 2], () => acme(sql`select pg_sleep(0.05)`), { concurrency: 2 })
      proxy.silence()
      const fibers = yield* Effect.forEach(
        [1, 2],
        () => Effect.forkChild(acme(sql`select 1`), { startImmediately: true })
      )
      yield* TestClock.adjust("12 seconds")
      yield* Effect.forEach(fibers, (fiber) => expectAway(Fiber.join(fiber)))
      expect(yield* acme(sql`select 1 as one`)).toEqual([{ one: 1 }])
    }))

  it.live("answers ServiceUnavailable when its session is ended or none is to be had, and recovers", () =>
    Effect.gen(function*() {
      const { server, url } = yield* postgresServer()
      const admin = yield* connect(server.url())
      const sql = yield* connect(url)
      const acme = Tenant.transaction(sql, "acme")
      yield* expectAway(acme(Effect.gen(function*() {
        const [row] = yield* sql<{ pid: number }>`select pg_backend_pid() as pid`
        yield* admin`select pg_terminate_backend(${row?.pid})`
        yield* sql`select 1`
      })))
      yield* acme(sql`select 1`)
      yield* admin`alter role console connection limit 0`
      yield* admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'console'`
      yield* expectAway(Effect.forEach([1, 2], () => acme(sql`select 1`)))
      yield* admin`alter role console connection limit 10`
      yield* acme(sql`select 1`)
    }))

  it.live("ends the statement of an interrupted fiber, and its connection serves the next", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const sql = yield* connect(url, 4)
      const observer = yield* connect(url, 1)
      const asleep = observer`select 1 from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'
        and datname = current_database()`
      const fiber = yield* Effect.forkChild(
        Tenant.transaction(sql, "acme", { deadline: "1 hour" })(sql`select pg_sleep(600)`)
      )
      yield* Effect.repeat(asleep, { until: (rows) => rows.length > 0 })
      yield* Fiber.interrupt(fiber)
      expect(yield* Tenant.transaction(sql, "acme")(sql`select 1 as one`)).toEqual([{ one: 1 }])
      expect(yield* asleep).toEqual([])
    }))

  it.live("serves the statements that share a session with one that was given up", () =>
    Effect.gen(function*() {
      const sql = yield* connect(yield* postgresUrl, 4, "1 second")
      const alone = Tenant.directory(sql)
      const sleeping = Effect.forEach([1, 2], () => Effect.forkChild(alone(sql`select pg_sleep(600)`)))
      const fibers = yield* sleeping
      const others = yield* Effect.forEach([1, 2, 3, 4], (id) => Effect.forkChild(alone(sql`select ${id}::int as id`)))
      yield* Effect.forEach(fibers, Fiber.interrupt, { concurrency: "unbounded" })
      expect(yield* Effect.forEach(others, Fiber.join)).toEqual([1, 2, 3, 4].map((id) => [{ id }]))
    }))

  it.effect("gives up shared sessions whose other end never answers again, and opens new ones", () =>
    Effect.gen(function*() {
      const url = new URL(yield* postgresUrl)
      const proxy = yield* silentProxy(Number(url.port))
      url.port = String(proxy.port)
      const sql = yield* connect(url.href, 4)
      const ask = Tenant.directory(sql)(sql`select 1 as one`)
      yield* Effect.all([ask, ask], { concurrency: 2 })
      proxy.silence()
      const fibers = yield* Effect.forEach([1, 2], () => Effect.forkChild(ask, { startImmediately: true }))
      yield* TestClock.adjust("12 seconds")
      yield* Effect.forEach(fibers, (fiber) => expectAway(Fiber.join(fiber)))
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5500)))
      expect(yield* ask).toEqual([{ one: 1 }])
    }))

  it.live("never falls back to a plain connection when the url asks for TLS", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const required = yield* connect(`${url}?sslmode=require`)
      const failure = yield* Effect.flip(required`select 1`)
      expect(failure.reason).toMatchObject({ _tag: "ConnectionError", message: "PgConnection: Server refused TLS" })
      const preferred = yield* connect(`${url}?sslmode=prefer`)
      expect(yield* preferred`select ssl from pg_stat_ssl where pid = pg_backend_pid()`).toEqual([{ ssl: false }])
    }))

  it.effect("refuses a url that it would not heed in full, without repeating its password", () =>
    Effect.gen(function*() {
      const refusals = yield* Effect.forEach([
        "postgres://u:secret@h/d?sslmode=verify-ca",
        "postgres://u:secret@h/d?sslmode=allow",
        "postgres://u:secret@h/d?sslrootcert=/ca.pem",
        "mysql://u:secret@h/d",
        "not a url with a secret"
      ], (url) => Effect.scoped(Effect.flip(connect(url))))
      expect(refusals.map((refusal) => refusal.message)).toEqual([
        "The database url has an sslmode that is not supported: use one of disable, prefer, require, verify-full",
        "The database url has an sslmode that is not supported: use one of disable, prefer, require, verify-full",
        "The database url has a parameter that is not supported: sslrootcert",
        "The database url is not of the form postgres://user:password@host:port/database",
        "The database url is not of the form postgres://user:password@host:port/database"
      ])
    }))
})
