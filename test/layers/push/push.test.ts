import { describe, expect, layer } from "@effect/vitest"
import { Array, Effect, Exit, Fiber, Layer, Logger, Metric, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as dgram from "node:dgram"
import * as fs from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as CheckpointFile from "../../../src/cli/commands/journal/CheckpointFile.ts"
import { Checkpoint } from "../../../src/domain/journal/Checkpoint.ts"
import * as PushCheckpoints from "../../../src/jobs/journal/push_checkpoints.ts"
import { CheckpointKeys, digest } from "../../../src/layers/crypto/journal/CheckpointKeys.ts"
import { Targets } from "../../../src/layers/push/Targets.ts"
import * as CheckpointQueue from "../../../src/layers/sql/journal/CheckpointQueue.ts"
import * as Checkpoints from "../../../src/layers/sql/journal/Checkpoints.ts"
import { NotTaken, type PushTarget } from "../../../src/ports/journal/CheckpointQueue.ts"
import { pglite, postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const world = (database: Parameters<typeof World.world>[0]) =>
  CheckpointQueue.layer.pipe(Layer.provide(Layer.succeed(Targets, [])), Layer.provideMerge(World.world(database)))

const targetOf = (address: string) =>
  Effect.flatMap(
    Targets.make(Redacted.make(address)),
    ([target]) => target === undefined ? Effect.die("no target") : Effect.succeed(target)
  )

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "push-"))),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true }))
)

/** Signs so many checkpoints more, of an organization whose journal nobody asks for; answers the number of the last. */
const signed = Effect.fnUntraced(function*(count: number) {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* CheckpointKeys
  const { id } = yield* World.makeOrganization()
  const all = yield* Checkpoints.after(0, 10_000)
  let last = all.at(-1)
  const rows: globalThis.Array<Record<string, unknown>> = []
  for (let sequence = 1; sequence <= count; sequence++) {
    last = keys.sign({
      object: "journal_checkpoint",
      number: (last?.number ?? 0) + 1,
      organization: id,
      sequence,
      hash: sequence.toString(16).padStart(64, "0"),
      at: new Date(1_800_000_000_000 + sequence),
      previous: last === undefined ? "0".repeat(64) : digest(last)
    })
    const { at, hash, key_id, number, organization, previous, signature } = last
    rows.push({ organization_id: organization, number, sequence, hash, at, previous, key_id, signature })
  }
  if (Array.isArrayNonEmpty(rows)) yield* sql`insert into journal_checkpoint ${sql.insert(rows)}`
  return last?.number ?? 0
})

const numbers = (from: number, to: number) =>
  globalThis.Array.from({ length: to - from + 1 }, (_, index) => from + index)

const cursorOf = (target: PushTarget) =>
  SqlClient.SqlClient.use((sql) =>
    sql<{ number: number; failures: number }>`
      select number, failures from journal_push where target = ${target.name}`
  ).pipe(Effect.map(([row]) => row))

/** Pushes until there is nothing more, as the service does; answers what came of the last. */
const pushAll = Effect.fnUntraced(function*(target: PushTarget) {
  while (true) {
    const outcome = yield* PushCheckpoints.pushSome(target)
    if (outcome.is !== "taken" || !outcome.more) return outcome
  }
})

const decodeBatch = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ checkpoints: Schema.Array(Checkpoint) }))
)

interface Received {
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

type Answering = (response: http.ServerResponse) => void

/** A receiver on loopback that answers as it is told. */
const receiver = Effect.gen(function*() {
  const received: globalThis.Array<Received> = []
  const state: { answer: Answering } = { answer: (response) => response.end("ok") }
  const server = http.createServer((request, response) => {
    const chunks: globalThis.Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { authorization } = request.headers
      received.push({ url: request.url, authorization, body: Buffer.concat(chunks).toString() })
      state.answer(response)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  return { received, state, port: typeof address === "object" && address !== null ? address.port : 0 }
})

/** What a statement is worth, once it is. */
const eventually = (is: () => boolean) =>
  Effect.promise(async () => {
    while (!is()) await new Promise((resolve) => setImmediate(resolve))
  })

describe("signed checkpoints that are pushed", () => {
  layer(world(postgres), { timeout: "2 minutes" })((it) => {
    it.effect("to a file are there one a line in their order, none lost when the process is killed between write and cursor", () =>
      Effect.gen(function*() {
        const file = path.join(yield* folder, "checkpoints.ndjson")
        const target = yield* targetOf(`file:${file}`)
        const last = yield* signed(250)
        expect(yield* pushAll(target)).toEqual({ is: "taken", more: false })
        const pushed = () =>
          CheckpointFile.read(file).pipe(Effect.map((kept) => kept.map((each) => "number" in each ? each.number : 0)))
        expect(yield* pushed()).toEqual(numbers(1, last))
        expect(fs.statSync(file).mode & 0o777).toBe(0o600)
        expect(yield* pushAll(target)).toEqual({ is: "nothing", failing: false })

        const next = yield* signed(3)
        const killed: PushTarget = {
          ...target,
          send: (checkpoints) => Effect.andThen(target.send(checkpoints), Effect.interrupt)
        }
        expect(Exit.isFailure(yield* Effect.exit(PushCheckpoints.pushSome(killed)))).toBe(true)
        expect(yield* cursorOf(target)).toMatchObject({ number: last })
        expect(yield* pushAll(target)).toEqual({ is: "elsewhere" })
        yield* TestClock.adjust("30 seconds")
        yield* pushAll(target)
        expect(yield* pushed()).toEqual([...numbers(1, next), ...numbers(last + 1, next)])

        // The power fails in the middle of a line, and the cursor stays where it was.
        const end = yield* signed(2)
        const [first] = yield* Checkpoints.after(next, 1)
        fs.appendFileSync(file, JSON.stringify(first).slice(0, 99))
        expect(yield* pushed()).toHaveLength(next + 3)
        yield* pushAll(target)
        expect((yield* pushed()).slice(next + 3)).toEqual(numbers(next + 1, end))
        fs.appendFileSync(file, "{\"object\":\"journal_check\n")
        expect(yield* Effect.flip(pushed())).toMatchObject({ message: `${file} does not hold checkpoints.` })
      }))

    it.effect("to a web address go on after failures of each kind, in order, by a token that is never shown", () =>
      Effect.gen(function*() {
        const hook = yield* receiver
        const target = yield* targetOf(`http://s3cret@127.0.0.1:${hook.port}/in/pa7h?key=qu3ry`)
        const last = yield* signed(2)
        const failures: ReadonlyArray<readonly [Answering, string]> = [
          [(response) => response.writeHead(500).end("down"), "status 500"],
          [(response) => response.writeHead(401).end(), "status 401"],
          [(response) => response.writeHead(307, { location: "/elsewhere" }).end(), "status 307"],
          [(response) => response.destroy(), "UND_ERR_SOCKET"]
        ]
        let failed = 0
        for (const [answer, reason] of failures) {
          hook.state.answer = answer
          expect(yield* PushCheckpoints.pushSome(target)).toEqual({ is: "failed", reason })
          failed += 1
          expect(yield* cursorOf(target)).toEqual({ number: 0, failures: failed })
          // Nobody asks again before the pause is over.
          expect(yield* PushCheckpoints.pushSome(target)).toEqual({ is: "elsewhere" })
          yield* TestClock.adjust(15_000 * 2 ** (failed - 1) - 1)
          expect(yield* PushCheckpoints.pushSome(target)).toEqual({ is: "elsewhere" })
          yield* TestClock.adjust(1)
        }
        hook.state.answer = () => {}
        const hanging = yield* Effect.forkChild(PushCheckpoints.pushSome(target), { startImmediately: true })
        yield* eventually(() => hook.received.length === failures.length + 1)
        yield* TestClock.adjust("10 seconds")
        expect(yield* Fiber.join(hanging)).toEqual({ is: "failed", reason: "no answer within 10s" })
        yield* TestClock.adjust("10 minutes")

        hook.state.answer = (response) => response.writeHead(204).end()
        expect(yield* pushAll(target)).toEqual({ is: "taken", more: false })
        expect(yield* cursorOf(target)).toEqual({ number: last, failures: 0 })
        const sent = hook.received.slice(failures.length + 1).flatMap(({ body }) => decodeBatch(body).checkpoints)
        expect(sent).toEqual(yield* Checkpoints.after(0, 10_000))
        for (const { authorization, url } of hook.received) {
          expect([authorization, url]).toEqual(["Bearer s3cret", "/in/pa7h?key=qu3ry"])
        }
        expect(target.name).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \([0-9a-f]{8}\)$/)
        const metrics = JSON.stringify((yield* Metric.snapshot).filter(({ id }) => id.includes("push")))
        expect(metrics).toContain(target.name)
        expect(metrics).not.toMatch(/s3cret|pa7h|qu3ry/)
        const other = yield* targetOf(`http://name:pass@127.0.0.1:${hook.port}/`)
        yield* PushCheckpoints.pushSome(other)
        expect(hook.received.at(-1)?.authorization).toBe(`Basic ${btoa("name:pass")}`)
      }))

    it.effect("to syslog are messages of RFC 5424, framed by their length over TCP and one a datagram over UDP", () =>
      Effect.gen(function*() {
        const last = yield* signed(2)
        const texts: globalThis.Array<string> = []
        const server = net.createServer({ allowHalfOpen: true }, (socket) => {
          const chunks: globalThis.Array<Buffer> = []
          socket.on("data", (chunk) => chunks.push(chunk))
          socket.on("end", () => {
            texts.push(Buffer.concat(chunks).toString())
            socket.end()
          })
        })
        yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const target = yield* targetOf(`syslog+tcp://127.0.0.1:${port}`)
        expect(yield* pushAll(target)).toEqual({ is: "taken", more: false })
        yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))
        const all = yield* Checkpoints.after(0, 10_000)
        let rest = texts.join("")
        const found: globalThis.Array<unknown> = []
        const form = /^<109>1 \d{4}-\d\d-\d\dT[\d:.]+Z [!-~]+ org-security-console \d+ checkpoint - (\{.*\})$/
        while (rest !== "") {
          const [head = "", length = ""] = /^(\d+) /.exec(rest) ?? []
          const message = rest.slice(head.length, head.length + Number(length))
          found.push(JSON.parse(form.exec(message)?.[1] ?? ""))
          rest = rest.slice(head.length + Number(length))
        }
        expect(found).toEqual(JSON.parse(JSON.stringify(all)))

        yield* signed(1)
        expect(yield* PushCheckpoints.pushSome(target)).toEqual({ is: "failed", reason: "ECONNREFUSED" })
        expect(yield* cursorOf(target)).toEqual({ number: last, failures: 1 })

        const listener = yield* Effect.acquireRelease(
          Effect.sync(() => dgram.createSocket("udp4")),
          (socket) => Effect.sync(() => socket.close())
        )
        const datagrams: globalThis.Array<string> = []
        listener.on("message", (message) => datagrams.push(message.toString()))
        yield* Effect.promise(() => new Promise<void>((resolve) => listener.bind(0, "127.0.0.1", resolve)))
        const udp = yield* targetOf(`syslog+udp://127.0.0.1:${listener.address().port}`)
        yield* SqlClient.SqlClient.use((sql) =>
          sql`insert into journal_push (target, number, failures, free_at) values (${udp.name}, ${
            last - 1
          }, 0, 'epoch')`
        )
        expect(yield* pushAll(udp)).toEqual({ is: "taken", more: false })
        yield* eventually(() => datagrams.length === 2)
        expect(datagrams.map((text) => JSON.parse(form.exec(text)?.[1] ?? "").number)).toEqual([last, last + 1])
      }))

    it.effect("go to a target from one process at a time, and each target by itself", () =>
      Effect.gen(function*() {
        const last = yield* signed(1)
        const batches: globalThis.Array<ReadonlyArray<number>> = []
        const target: PushTarget = {
          name: "one",
          send: (checkpoints) =>
            Effect.andThen(
              Effect.sync(() => batches.push(checkpoints.map(({ number }) => number))),
              Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            )
        }
        const broken: PushTarget = { name: "broken", send: () => Effect.fail(new NotTaken({ reason: "never" })) }
        expect(yield* PushCheckpoints.pushSome(broken)).toEqual({ is: "failed", reason: "never" })
        while (batches.flat().length < last) {
          yield* Effect.all(globalThis.Array.from({ length: 6 }, () => PushCheckpoints.pushSome(target)), {
            concurrency: 6
          })
        }
        expect(batches.flat()).toEqual(numbers(1, last))
      }))
  })

  layer(world(pglite))((it) => {
    it.effect("leave one line in the log when a target fails first, and one when it works again", () =>
      Effect.gen(function*() {
        yield* signed(1)
        let works = false
        const target: PushTarget = {
          name: "somewhere",
          send: () => works ? Effect.void : Effect.fail(new NotTaken({ reason: "status 500" }))
        }
        const said: globalThis.Array<string> = []
        const logger = Logger.make(({ message }) => {
          said.push(String(message))
        })
        yield* Effect.gen(function*() {
          const turn = PushCheckpoints.pushTo(target)
          for (const seconds of [0, 15, 30, 1]) {
            yield* TestClock.adjust(`${seconds} seconds`)
            yield* turn
          }
          works = true
          yield* TestClock.adjust("10 minutes")
          yield* turn
          yield* turn
        }).pipe(Effect.provide(Logger.layer([logger])))
        expect(said).toEqual([
          "somewhere does not take checkpoints: status 500",
          "somewhere takes checkpoints again"
        ])
      }))

    it.effect("go to addresses that are understood, and a refusal repeats none of them", () =>
      Effect.gen(function*() {
        const names = yield* Targets.make(
          Redacted.make("file:/a/b, https://x:y@h.example/p,syslog+udp://[::1]:514 ,syslog+tcp://log.example:6514")
        )
        expect(names.map(({ name }) => name.replace(/\(\w+\)/, "(digest)"))).toEqual([
          "file:/a/b",
          "https://h.example (digest)",
          "syslog+udp://[::1]:514",
          "syslog+tcp://log.example:6514"
        ])
        for (
          const wrong of [
            "http://h.example/s3cret",
            "file:s3cret",
            "ftp://s3cret",
            "syslog+tcp://s3cret",
            "syslog+udp://u:s3cret@h:1",
            "https://h/s3cret#x",
            "https://s3cret@h/p,https://h/p",
            "s3cret"
          ]
        ) {
          const refused = yield* Effect.flip(Targets.make(Redacted.make(wrong)))
          expect([wrong, refused.message]).toEqual([wrong, expect.stringMatching(/address [12] is none of these\.$/)])
          expect(refused.message).not.toContain("s3cret")
        }
        expect(yield* Targets.make(Redacted.make(""))).toEqual([])
      }))
  })
})
