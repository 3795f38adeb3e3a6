import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import { flagsOf, freshDirectory, until } from "../support/cli/commandLine.ts"
import { environment } from "../support/cli/commandProcess.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { replica } from "../support/replicas.ts"
import { main } from "../support/run/program.ts"
import * as World from "../support/world.ts"

/** Starts the command by its name, as an installed package offers it, and kills it when the test is over. */
const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  const folder = freshDirectory()
  const command = path.join(folder, "security-console")
  fs.symlinkSync(main, command)
  fs.symlinkSync(process.execPath, path.join(folder, "node"))
  const child = childProcess.spawn(command, args, {
    env: environment({ PATH: `${folder}${path.delimiter}${process.env["PATH"]}`, ...env }),
    stdio: ["pipe", "pipe", "inherit"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => said += text)
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return {
    pid: child.pid ?? 0,
    said: () => said,
    write: (line: string) => child.stdin.write(`${line}\n`),
    stop: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}

/** A port that takes connections and never answers, so that a process which asks there lives on. */
const silentPort = async (): Promise<number> => {
  const server = net.createServer((socket) => onTestFinished(() => void socket.destroy()))
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return typeof address === "object" ? address?.port ?? 0 : 0
}

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
})

describe("the flags of Node", () => {
  // On PostgreSQL, as the embedded database takes seconds to start under these flags alone.
  it.live(
    "reach the service and an assistant's process in the process that was started, with all of its input",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const within = yield* replica(url)
        const { admins } = yield* within(World.makeOrganization())
        const key = Redacted.value(admins.owner.key)
        yield* Effect.promise(async () => {
          const service = start(["serve", "--port", "0"], {
            CONSOLE_DATABASE_URL: url,
            CONSOLE_PEPPERS: World.peppers,
            CONSOLE_CHECKPOINT_KEYS: World.checkpointKeys,
            CONSOLE_CSRF_KEYS: World.csrfKeys
          })
          await until(() => service.said().includes("Listening on "))
          expect(flagsOf(service.pid)).toEqual(nodeFlags)
          expect(service.said().match(/^Starting /gm)).toHaveLength(1)

          const address = /Listening on (\S+)/.exec(service.said())?.[1]
          const tools = start(["mcp", "--url", `${address}/mcp`], { CONSOLE_API_KEY: key })
          tools.write(initialize)
          await until(() => tools.said().includes("\n"))
          expect(JSON.parse(tools.said())).toMatchObject({
            id: 1,
            result: { serverInfo: { name: "org-security-console" } }
          })
          expect(flagsOf(tools.pid)).toEqual(nodeFlags)
          expect([await tools.stop(), await service.stop()]).toEqual([0, 0])
        })
      }),
    120_000
  )

  it("keep the value that an operator has set, with which the others are added", async () => {
    const env = { NODE_OPTIONS: "--max-semi-space-size=32", CONSOLE_API_KEY: "osc_live_x" }
    const { pid } = start(["mcp", "--url", `http://127.0.0.1:${await silentPort()}/mcp`], env)
    // It starts again in the same process.
    await until(() => flagsOf(pid).length > 0)
    expect(flagsOf(pid)).toEqual(nodeFlags.filter((flag) => !flag.startsWith("--max-semi-space-size")))
  }, 120_000)
})
