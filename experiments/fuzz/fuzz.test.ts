import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { HttpServer } from "effect/http"
import { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import * as App from "../../src/http/App.ts"
import * as Server from "../../src/http/Server.ts"
import * as Handler from "../../src/mcp/Handler.ts"
import { TrustedProxies } from "../../src/transport/TransportSettings.ts"
import { sampled } from "../../test/support/drawn.ts"
import { pglite } from "../../test/support/postgres/database.ts"
import * as World from "../../test/support/world.ts"
import { examples, request } from "./examples.ts"
import * as Rest from "./rest.ts"
import { Run, type Target } from "./run.ts"
import * as Stage from "./stage.ts"

const mounted = Layer.effect(
  App.Mounts,
  Effect.map(Handler.make(), (handler): ReadonlyArray<App.Mount> => [{ path: Handler.path, handler }])
)

const served = Server.layer.pipe(
  Layer.provide(mounted),
  Layer.provide(Layer.succeed(TrustedProxies, [Result.getOrThrow(IpNetwork.fromString("127.0.0.1/32"))])),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(World.world(pglite))
)

let made: Effect.Success<ReturnType<typeof Stage.make>> | undefined

/** What the runs of this file send their cases to. */
const target = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const sql = yield* SqlClient.SqlClient
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  return {
    port: "port" in address ? address.port : 0,
    stage: made ??= yield* Stage.make(10),
    // As the superuser, who sees every row.
    query: (statement) =>
      runPromise(
        sql`select set_config('role', 'none', true)`.pipe(
          Effect.andThen(sql.unsafe<Record<string, unknown>>(statement)),
          sql.withTransaction,
          Effect.orDie
        )
      )
  } satisfies Target
})

const options = { seed: 0, first: 0, count: 0, concurrency: 8, batch: 1000 }

describe("bad input", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect(
      "is answered as the document says, names what is wrong, and leaves nothing behind when it is refused",
      () =>
        Effect.gen(function*() {
          const { seed } = sampled(1)
          const run = new Run(yield* target, { ...options, seed, count: 300 })
          const { findings, surfaces } = yield* Effect.promise(() => run.all())
          expect(
            findings.map(({ answer, fault, number, text }) =>
              `npm run fuzz -- --seed ${seed} --case ${number}: ${fault}\n${text}\n${answer}`
            )
          ).toEqual([])
          expect([...surfaces.keys()].sort()).toEqual(["HTTP", "MCP", "OAuth", "REST", "pages"])
        }),
      180_000
    )

    it.effect("has no fault that it had once", () =>
      Effect.gen(function*() {
        const run = new Run(yield* target, options)
        expect(yield* Effect.promise(() => run.these(Object.values(examples)))).toEqual([])
      }))

    it.effect("is judged by what answers it: an answer that is not what it should be is found", () =>
      Effect.gen(function*() {
        const run = new Run(yield* target, options)
        const [, , , moment] = Object.values(examples)
        const faults = yield* Effect.promise(() =>
          run.these([{ ...moment!, blame: ["since"] }, { ...moment!, fate: "well-formed" }])
        )
        expect(faults.map((fault) => fault.split("\n").at(-1))).toEqual([
          "parameter_invalid names another parameter: \"before\"",
          expect.stringContaining("what the document allows is refused")
        ])
      }))

    it.effect("is known to ask for a destructive operation, whose refusal is journaled, however its path is written", () =>
      Effect.sync(() => {
        const path = `/v1/accounts/${crypto.randomUUID()}/recovery-email`
        const asked = [path, `${path}?a=1`, path.replace("v1", "%761"), path.replace("v1", "%41")]
        expect(asked.map((each) => Rest.isDestructive(request("REST", "DELETE", each)))).toEqual([
          true,
          true,
          true,
          false
        ])
      }))

    it.effect("may change nothing when it is refused: a row that changes meanwhile is found, and its table named", () =>
      Effect.gen(function*() {
        const { query, ...rest } = yield* target
        let changes = 0
        const drifting = async (statement: string) => [
          ...await query(statement),
          ...(statement.includes("md5") ? [{ name: "account", digest: changes++ }] : [])
        ]
        const run = new Run({ ...rest, query: drifting }, options)
        const faults = yield* Effect.promise(() => run.these(Object.values(examples).slice(0, 2)))
        expect(faults.map((fault) => fault.split("\n").at(-1))).toEqual([
          "a refused request changes account",
          "a refused request changes account"
        ])
      }))
  })
})
