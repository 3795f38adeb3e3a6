/** The service behind a proxy that lends a session of the server for each transaction. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, Redacted, Schedule } from "effect"
import * as crypto from "node:crypto"
import { slotCount } from "../../../src/domain/accounts/Slot.ts"
import * as Runner from "../../../src/layers/cluster/Runner.ts"
import * as Owned from "../../../src/layers/messenger/Owned.ts"
import * as Simulated from "../../../src/layers/messenger/simulated/Simulated.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Roles from "../../../src/layers/postgres/Roles.ts"
import * as Worker from "../../../src/layers/Worker.ts"
import { Ownership } from "../../../src/ports/messenger/Ownership.ts"
import { Engine } from "../../../src/protection/PollLoop.ts"
import { freshDirectory } from "../../support/cli/commandLine.ts"
import { runInProcess } from "../../support/cli/inProcess.ts"
import { postgresUrl } from "../../support/postgres/database.ts"
import { superuser } from "../../support/postgres/superuser.ts"
import { transactionPool } from "../../support/postgres/transactionPool.ts"
import { makeWatched } from "../../support/protection/watched.ts"
import { running } from "../../support/replicas.ts"
import * as World from "../../support/world.ts"

const pepper = crypto.randomBytes(32).toString("base64")

/** A database whose login role brings the settings of its sessions, as an administrator has said. */
const prepared = Effect.fnUntraced(function*(url: string, statements: ReadonlyArray<string>) {
  const admin = yield* superuser(url)
  const name = new URL(url).pathname.slice(1)
  const inDatabase = (statement: string) => statement.replace(/^(alter role "\w+") /, `$1 in database ${name} `)
  for (const statement of statements) yield* Effect.promise(() => admin.query(inDatabase(statement)))
  yield* Effect.addFinalizer(() => Effect.promise(() => admin.query(inDatabase(`alter role "console" reset all`))))
})

const settings = [
  `alter role "console" set timezone = 'UTC'`,
  `alter role "console" set role = 'console_service'`
]

/** A process that watches, with eight connections to the proxy. */
const watcher = (url: string) => {
  const sql = Postgres.layer({ url: Redacted.make(url), role: Roles.service, maxConnections: 8, pooled: true })
  return running(
    Worker.layer().pipe(
      Layer.provideMerge(Owned.layer),
      Layer.provideMerge(
        Layer.provideMerge(
          Layer.merge(Runner.layer({ lease: "3 seconds", margin: "500 millis" }), Layer.fresh(Simulated.layerSql)),
          World.world(sql)
        )
      ),
      Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
    )
  )
}

const owned = Effect.map(Ownership, (ownership) => ownership.owned().size)

describe("behind a proxy that lends a session for each transaction", () => {
  it.live("a command says what an administrator runs, and works once that was done", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const list = (address: string, pooled: "off" | "on") =>
        Effect.promise(() =>
          runInProcess(["organizations", "list"], {
            env: {
              CONSOLE_DATABASE_URL: address,
              CONSOLE_DATABASE_POOLED: pooled,
              CONSOLE_PEPPERS: pepper,
              CONSOLE_CHECKPOINT_KEYS: pepper,
              CONSOLE_CSRF_KEYS: pepper,
              CONSOLE_DATA: freshDirectory()
            }
          })
        )
      const { url: first } = yield* transactionPool(url, 2)
      assert.strictEqual((yield* list(first, "off")).status, 1)
      const { status, stderr } = yield* list(first, "on")
      assert.strictEqual(status, 1)
      const statements = stderr.match(/^alter role .*;$/gm) ?? []
      assert.deepStrictEqual(statements, [
        `alter role "console" set timezone = 'UTC';`,
        `alter role "console" set idle_in_transaction_session_timeout = '60000';`,
        `alter role "console" set role = 'console_service';`,
        `alter role "console" set statement_timeout = '20000';`
      ])
      yield* prepared(url, statements)
      const { url: second } = yield* transactionPool(url, 2)
      const done = yield* list(second, "on")
      assert.deepStrictEqual([done.status, done.stderr], [0, ""])
    }), 30_000)

  it.live(
    "requests, the watch and the leases of two processes share three sessions, and none keeps one",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        yield* prepared(url, settings)
        const pool = yield* transactionPool(url, 3)
        const one = yield* watcher(pool.url)
        const two = yield* watcher(pool.url)
        const shares = Effect.all([one(owned), two(owned)])
        yield* Effect.timeout(
          Effect.repeat(shares, {
            until: ([first, second]) => first > 0 && second > 0 && first + second === slotCount,
            schedule: Schedule.spaced(50)
          }),
          15_000
        )
        const organization = yield* one(World.makeOrganization())
        const { account } = yield* one(makeWatched(organization))
        const { key } = organization.admins.owner
        const label = (place: number) =>
          World.send("PUT", `/v1/accounts/${account}/role-label`, { key, body: { role_label: `Label ${place}` } })
        const asked = Array.from({ length: 60 }, (_, place) => {
          const run = place % 2 === 0 ? one : two
          return place % 4 < 2 ? run(World.get(`/v1/accounts/${account}`, key)) : run(label(place))
        })
        const statuses = (yield* Effect.all(asked, { concurrency: "unbounded" })).map(({ status }) => status)
        assert.deepStrictEqual(statuses, asked.map(() => 200))
        const labelled = (yield* one(World.journal(organization.id))).filter(({ action }) =>
          action === "account.role_label_set"
        )
        assert.strictEqual(labelled.length, 30)
        const steps = Effect.flatMap(Engine, ({ tick }) => Effect.map(tick, (report) => report.steps))
        assert.strictEqual((yield* one(steps)) + (yield* two(steps)), 1)
        assert.isAbove(pool.transactions(), 100)
      }),
    30_000
  )
})
