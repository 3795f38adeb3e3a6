/** The service as operators run it: `serve` in a process of its own on a PostgreSQL of the run's own. */
import { Effect } from "effect"
import * as childProcess from "node:child_process"
import * as path from "node:path"
import { Client } from "pg"
import { createConsole, migrate, postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/postgres/databaseServer.ts"
import * as World from "../../test/support/world.ts"
import type { Target } from "./run.ts"
import * as Stage from "./stage.ts"

/** What the service has to do with, in MiB: a leak ends the process, and the run with it. */
export const heap = 256

const root = path.join(import.meta.dirname, "../..")

export interface Running extends Target {
  /** The memory of the service's process, in MiB. */
  readonly memory: () => number
  readonly isAlive: () => boolean
  /** What it has logged as an error. */
  readonly errors: () => ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

const settings = (url: string) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CONSOLE_"))),
  CONSOLE_DATABASE_URL: url,
  CONSOLE_PEPPERS: World.peppers,
  CONSOLE_CHECKPOINT_KEYS: World.checkpointKeys,
  CONSOLE_CSRF_KEYS: World.csrfKeys
})

/** Starts everything and fills it; the peer is a trusted proxy, so that every case has an address of its own. */
export const start = async (keys: number): Promise<Running> => {
  const server = await DatabaseServer.start()
  const url = await createConsole(server, "console")
  const stage = await Effect.runPromise(
    Effect.andThen(migrate(url), Effect.provide(Stage.make(keys), World.world(postgresLayer(url))))
  )
  const child = childProcess.spawn(process.execPath, [
    `--max-old-space-size=${heap}`,
    path.join(root, "src/cli/main.ts"),
    "serve",
    "--demo",
    "--port=0",
    `--base-url=${World.baseUrl}`,
    "--trusted-proxies=127.0.0.1/32",
    "--log-format=json"
  ], { cwd: root, env: settings(url), stdio: ["ignore", "pipe", "pipe"] })
  let log = ""
  const errors: Array<string> = []
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${log}${text}`.split("\n")
    log = lines.pop() ?? ""
    errors.push(...lines.filter((line) => /"level":"(?:ERROR|FATAL)"/i.test(line)))
  })
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = /Listening on \S+:(\d+)/.exec(text)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    void ended.then(() => reject(new Error(`serve ended: ${log}`)))
  })
  const client = new Client(server.url("console"))
  await client.connect()
  return {
    port,
    stage,
    query: async (statement) => (await client.query(statement)).rows,
    memory: () =>
      Math.round(
        Number(childProcess.execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" })) / 1024
      ),
    isAlive: () => child.exitCode === null,
    errors: () => errors,
    stop: async () => {
      child.kill("SIGTERM")
      await ended
      await client.end()
      await server.remove()
    }
  }
}
