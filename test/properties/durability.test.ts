import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { closeAbandonedIntents, closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import * as Console from "../../src/layers/Console.ts"
import * as Pglite from "../../src/layers/postgres/Pglite.ts"
import { Targets } from "../../src/layers/push/Targets.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import * as Fixtures from "../support/fixtures.ts"
import { type DatabaseLayer, fillDirectory, postgresUrl } from "../support/postgres/database.ts"
import { postgresLayer } from "../support/postgres/databaseRoles.ts"
import { replicas } from "../support/replicas.ts"
import { flags } from "../support/run/program.ts"
import * as World from "../support/world.ts"

interface Line {
  readonly organization?: string
  readonly account?: string
  readonly live?: string
  readonly text?: string
  readonly request?: string
  readonly pending?: boolean
}

const writerFile = path.join(import.meta.dirname, "../support/postgres/writer.ts")

/** A process that writes through the service, and what it has acknowledged. */
const writer = Effect.fnUntraced(function*(target: string, known: ReadonlyArray<string> = []) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      childProcess.spawn(process.execPath, [...flags, writerFile, target, ...known], {
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  const lines = (): ReadonlyArray<Line> => output.split("\n").slice(0, -1).map((line) => JSON.parse(line))
  const until = (holds: (lines: ReadonlyArray<Line>) => boolean) =>
    Effect.promise(() =>
      new Promise<void>((resolve, reject) => {
        child.once("exit", (code) => reject(new Error(`the writer ended with ${code}`)))
        child.stdout.on("data", () => {
          if (holds(lines())) resolve()
        })
      })
    )
  const kill = Effect.promise(() =>
    new Promise<ReadonlyArray<Line>>((resolve) => {
      child.once("close", () => resolve(lines()))
      child.kill("SIGKILL")
    })
  )
  return { until, kill, hang: Effect.sync(() => child.stdin.write("hang\n")) }
})

/** What the database holds of an organization's changes after the process is gone. */
const kept = Effect.fnUntraced(function*(organization: string, account: string) {
  const events = yield* World.journal(organization)
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
  expect(yield* Fixtures.within(organization, verify(organization))).toMatchObject({ ok: true })
  const [row] = yield* World.query<{ role_label: string }>(
    organization,
    (sql) => sql`select role_label from account where organization_id = ${organization} and id = ${account}`
  )
  const labels = events.filter(({ action }) => action === "account.role_label_set")
  expect(row?.role_label).toBe(labels.at(-1)?.details["role_label"])
  const open = yield* World.query<{ sequence: number }>(
    organization,
    (sql) => sql`select sequence from pending_change where organization_id = ${organization}`
  )
  const closed = new Set(events.map(({ closes }) => closes))
  const intents = events.filter((event) => event.outcome === "pending" && !closed.has(event.sequence))
  expect(open.map(({ sequence }) => sequence)).toEqual(intents.map(({ sequence }) => sequence))
  return { events, intents, done: new Set(events.filter((e) => e.outcome === "done").map((e) => e.request_id)) }
})

/** Kills a writer twice, once at any moment and once inside a change on the messenger, and looks at what is left. */
const killed = Effect.fnUntraced(function*(target: string, layer: DatabaseLayer) {
  const reopened = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Layer.fresh(World.world(layer)))
  const first = yield* writer(target)
  yield* first.until((lines) => lines.length > 40)
  const [made, ...acknowledged] = yield* first.kill
  const { account = "", live = "", organization = "" } = made ?? {}
  const check = (lines: ReadonlyArray<Line>) =>
    reopened(Effect.gen(function*() {
      const left = yield* kept(organization, account)
      expect(lines.filter(({ request }) => !left.done.has(request ?? ""))).toEqual([])
      expect(left.intents.length).toBeLessThanOrEqual(1)
      return left
    }))
  expect(acknowledged.length).toBeGreaterThan(38)
  yield* check(acknowledged)
  const second = yield* writer(target, [organization, account, live])
  yield* second.until((lines) => lines.length > 10)
  yield* second.hang
  yield* second.until((lines) => lines.at(-1)?.pending === true)
  const more = (yield* second.kill).filter(({ request }) => request !== undefined)
  const { intents } = yield* check([...acknowledged, ...more])
  const [intent] = intents
  expect(intent).toMatchObject({ action: "profile.updated", details: { fields: "about" } })
  return { organization, intent, reopened }
})

/** The intent has one outcome: failed, its cause unknown, by the service itself. */
const closedOnce = Effect.fnUntraced(function*(organization: string, intent: World.StoredEvent | undefined) {
  const outcomes = (yield* World.journal(organization)).filter(({ closes }) => closes === intent?.sequence)
  expect(outcomes).toHaveLength(1)
  expect(outcomes[0]).toMatchObject({
    outcome: "failed",
    action: "profile.updated",
    actor_type: "service",
    via: "background",
    account_id: intent?.account_id,
    details: { fields: "about", error: "unknown", certain: false }
  })
  expect(yield* Fixtures.within(organization, verify(organization))).toMatchObject({ ok: true })
})

describe("durability", () => {
  it.live(
    "an embedded service that is killed loses no acknowledged change, and its next start closes the intent",
    () =>
      Effect.gen(function*() {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "durability-"))),
          (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
        )
        const directory = path.join(folder, "data")
        fs.mkdirSync(directory, { mode: 0o700 })
        fillDirectory(directory)
        const { intent, organization, reopened } = yield* killed(
          directory,
          Pglite.layer({ directory }).pipe(Layer.orDie)
        )
        const start = Effect.scoped(
          Effect.andThen(
            Layer.build(Layer.provide(Console.layerBackground({ alone: true }), Layer.succeed(Targets, []))),
            closedOnce(organization, intent)
          )
        )
        yield* reopened(start)
        yield* reopened(start)
      }),
    { timeout: 120_000 }
  )

  it.live(
    "a service on PostgreSQL that is killed loses no acknowledged change, and two replicas close it once",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const { intent, organization, reopened } = yield* killed(url, postgresLayer(url))
        const sweep = reopened(closeAllIntents)
        const closed = yield* Effect.all([sweep, sweep, sweep], { concurrency: "unbounded" })
        expect(closed.toSorted()).toEqual([0, 0, 1])
        yield* reopened(closedOnce(organization, intent))
        expect(yield* sweep).toBe(0)
      }),
    { timeout: 120_000 }
  )

  it.effect("replicas leave an intent alone while another may still be at it, and close it once when it is due", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const account = yield* one(World.makeAccount(id))
      yield* one(World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: "L" }))
      const deadline = 3_600_000
      yield* one(World.query(id, (sql) =>
        sql`insert into pending_change (organization_id, sequence, deadline)
          values (${id}, 1, ${new Date(deadline)}) returning sequence`))
      const sweeps = Effect.map(
        Effect.all([one, two, one, two].map((at) => at(closeAbandonedIntents.run)), {
          concurrency: "unbounded"
        }),
        (closed) => closed.toSorted()
      )
      yield* TestClock.setTime(deadline - 1)
      expect(yield* sweeps).toEqual([0, 0, 0, 0])
      yield* TestClock.setTime(deadline)
      expect(yield* sweeps).toEqual([0, 0, 0, 1])
      expect(yield* sweeps).toEqual([0, 0, 0, 0])
      expect((yield* one(World.journal(id))).map(({ closes }) => closes)).toEqual([null, 1])
    }))
})
