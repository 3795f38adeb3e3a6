import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Metric, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as net from "node:net"
import * as Owned from "../../src/layers/messenger/Owned.ts"
import * as Simulated from "../../src/layers/messenger/simulated/Simulated.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import * as WatchLease from "../../src/layers/sql/protection/WatchLease.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import { metric } from "../support/metrics.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { postgresLayer } from "../support/postgres/databaseRoles.ts"
import { makeWatched } from "../support/protection/watched.ts"
import { running } from "../support/replicas.ts"
import * as World from "../support/world.ts"

/** A lease that ends soon; all of it is in real time. */
const short = { lasts: 1500, margin: 300, renewed: 300, asked: 100 } as const

/** A way to the database that can be frozen: nothing goes through it any more, and nobody is told. */
const freezable = Effect.fnUntraced(function*(database: string) {
  const target = new URL(database)
  const sockets = new Set<net.Socket>()
  let frozen = false
  const server = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname)
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from)
      if (frozen) from.pause()
      from.on("data", (chunk) => void to.write(chunk)).on("error", () => {}).on("close", () => to.destroy())
    }
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  const url = new URL(database)
  const address = server.address()
  url.hostname = "127.0.0.1"
  url.port = String(typeof address === "object" ? address?.port : "")
  const turn = (next: boolean) =>
    Effect.sync(() => {
      frozen = next
      for (const socket of sockets) socket[frozen ? "pause" : "resume"]()
    })
  return { url: url.href, freeze: turn(true), thaw: turn(false) }
})

/** A process that watches; it reaches the messenger, which the simulated one keeps in the same database, otherwise. */
const watcher = (url: string, direct = url, options: WatchLease.Options = short) => {
  const world = World.world(postgresLayer(url))
  const messenger = Layer.fresh(Simulated.layerSql).pipe(Layer.provide(Layer.fresh(postgresLayer(direct))))
  return running(
    Worker.layer().pipe(
      Layer.provideMerge(Owned.layer),
      Layer.provideMerge(Layer.provideMerge(Layer.merge(WatchLease.layer(options), messenger), world)),
      // Of its own, as of a process.
      Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
    )
  )
}

const term = Effect.map(Ownership, (ownership) => ownership.term())
const steps = Effect.flatMap(Engine, ({ tick }) => Effect.map(tick, (report) => report.steps))

const until = <A, R>(ask: Effect.Effect<A, never, R>, holds: (answer: A) => boolean) =>
  Effect.timeout(Effect.repeat(ask, { until: holds, schedule: Schedule.spaced(20) }), 5000)

/** Runs in a process of its own, which ends when it is told to. */
const started = Effect.fnUntraced(function*(...args: Parameters<typeof watcher>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return { run: yield* Scope.provide(watcher(...args), scope), stop: Scope.close(scope, Exit.void) }
})

describe("12.4 of several processes on one database", () => {
  it.live(
    "I9: one watches and uses keys; another one takes over when it is cut off, and when it stops",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const way = yield* freezable(url)
        const { run: one } = yield* started(way.url, url)
        const two = yield* started(url)
        assert.isNotNull(yield* one(term))
        assert.deepStrictEqual([yield* one(metric("console_watching")), yield* two.run(metric("console_watching"))], [
          1,
          0
        ])

        const organization = yield* two.run(World.makeOrganization())
        const { account, sessionRef } = yield* two.run(makeWatched(organization))
        const due = two.run(
          World.query(
            organization.id,
            (sql) => sql`update monitor set next_at = '2020-01-01', busy_until = null where account_id = ${account}`
          )
        )
        const ended = two.run(
          SqlClient.SqlClient.use((sql) =>
            Tenant.directory(sql)(sql`select reason from simulated_ended_session where session_ref = ${sessionRef}`)
          )
        )
        yield* due
        assert.strictEqual(yield* two.run(steps), 0)
        assert.strictEqual(yield* one(steps), 1)
        const path = `/v1/accounts/${account}/messenger-profile`
        assert.strictEqual((yield* one(World.get(path, organization.admins.owner.key))).status, 200)
        const refused = yield* two.run(World.get(path, organization.admins.owner.key))
        assert.deepStrictEqual([refused.status, refused.body.error?.code], [503, "messenger_unavailable"])

        // Whoever has a session open goes on with it, without asking the database, until the lease is over.
        const live = yield* one(Effect.flatMap(MessengerSession, (messenger) => messenger.open(sessionRef)))
        yield* live.authorizations
        yield* way.freeze
        yield* live.authorizations
        const before = Date.now()
        yield* until(two.run(term), (term) => term !== null)
        assert.isBelow(Date.now() - before, 2500)
        assert.isNull(yield* one(term))
        yield* due
        assert.strictEqual(yield* two.run(steps), 1)
        assert.strictEqual((yield* Effect.flip(live.authorizations))._tag, "PlatformUnavailable")
        assert.strictEqual((yield* two.run(World.get(path, organization.admins.owner.key))).status, 200)

        yield* way.thaw
        assert.isNull(yield* one(term))
        yield* due
        assert.strictEqual(yield* one(steps), 0)
        assert.strictEqual(yield* two.run(steps), 1)
        assert.deepStrictEqual(yield* ended, [])

        // Whoever stops hands over at once.
        yield* two.stop
        yield* until(one(term), (term) => term !== null).pipe(Effect.timeout(1000))
        assert.strictEqual((yield* one(World.get(path, organization.admins.owner.key))).status, 200)
      }),
    30_000
  )

  it.live(
    "a process that was frozen uses no key when it wakes, by whichever clock the time is over",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        for (const clock of ["monotonic", "wall"] as const) {
          const slept = { monotonic: 0, wall: 0 }
          const instant = () => ({ monotonic: performance.now() + slept.monotonic, wall: Date.now() + slept.wall })
          const options = { ...short, lasts: 60_000, renewed: 30_000, asked: 30_000, instant }
          const { run, stop } = yield* started(url, url, options)
          const current = yield* run(Effect.map(Ownership, (ownership) => ownership.term))
          assert.isNotNull(current())
          slept[clock] = 55_000
          assert.isNotNull(current())
          slept[clock] = 59_800
          assert.isNull(current())
          yield* stop
        }
      }),
    30_000
  )
})
