import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as ControlClient from "../../src/cli/process/ControlClient.ts"
import { Background } from "../../src/jobs/Background.ts"
import * as Console from "../../src/layers/Console.ts"
import * as Simulated from "../../src/layers/messenger/simulated/Simulated.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import * as Processes from "../mcp/processes.ts"
import * as Mcp from "../mcp/support.ts"
import { embeddedDirectory } from "../support/cli/embeddedDirectory.ts"
import * as Fixtures from "../support/fixtures.ts"
import { fillDirectory } from "../support/postgres/database.ts"
import { scratch } from "../support/run/scratch.ts"
import * as World from "../support/world.ts"

const push = "file:/nowhere/checkpoints"

/** The jobs of the process that has the directory, as `status` says them. */
const jobsOf = (directory: string) =>
  ControlClient.invoke(
    embeddedDirectory(directory),
    (requests) => requests.database_status({}),
    Effect.die(new Error("Nobody holds the directory"))
  ).pipe(Effect.map(({ jobs }) => jobs?.map(({ name }) => name)))

describe("background work", () => {
  it.live(
    "is the same in serve, in mcp on its own database and in a program that embeds the service: intents close there too",
    () =>
      Effect.gen(function*() {
        const directory = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const folder = fs.mkdtempSync(path.join(scratch, "background-"))
            fillDirectory(folder)
            return folder
          }),
          (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
        )
        const embedded = <A, E, R>(background: boolean, effect: Effect.Effect<A, E, R>) =>
          Effect.provide(
            effect,
            Layer.fresh(Layer.provideMerge(
              Simulated.layerSql,
              Console.layerEmbedded({ directory, background, checkpointPush: Redacted.make(push) })
            ))
          )
        const { admins, id } = yield* embedded(false, World.makeOrganization())
        const leave = Fixtures.within(
          id,
          Effect.flatMap(Journal, (journal) =>
            journal.begin(id, { ...Fixtures.operatorEntry("organization.set", id), outcome: "pending" }))
        )
        const closed = Effect.map(World.journal(id), (events) =>
          events.flatMap(({ closes }) => closes ?? []))
        yield* embedded(false, leave)

        const names = yield* embedded(
          true,
          Effect.gen(function*() {
            expect(yield* closed).toEqual([1])
            yield* leave
            return (yield* Option.getOrThrow(yield* Effect.serviceOption(Background)).jobs).map(({ name }) => name)
          })
        )
        expect(names).toContain(`push_checkpoints ${push}`)

        const mcp = yield* Processes.start(["--data", directory], {
          CONSOLE_API_KEY: Redacted.value(admins.owner.key),
          CONSOLE_CHECKPOINT_PUSH: push
        })
        const { result } = yield* mcp.ask(
          Mcp.legacy("tools/call", { name: "list_journal_events", arguments: { outcome: "failed" } }, 1)
        )
        expect(result.structuredContent.data.map(({ closes }: { closes: number }) => closes)).toEqual([3, 1])
        expect(yield* jobsOf(directory)).toEqual(names)
        yield* mcp.stop("SIGTERM")

        const service = yield* Processes.serve(["--data", directory, "--checkpoint-push", push])
        expect(yield* jobsOf(directory)).toEqual(names)
        yield* service.stop()
      }),
    120_000
  )
})
