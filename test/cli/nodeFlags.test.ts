import { describe, expect, it } from "@effect/vitest"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import { dataDirectory, flagsOf, freshDirectory, shownKeys, until } from "../support/cli/commandLine.ts"
import { environment } from "../support/cli/commandProcess.ts"
import { main } from "../support/run/program.ts"

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

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
})

describe("the flags of Node", () => {
  it(
    "reach the service and an assistant's process in the process that was started, with all of its input",
    async () => {
      const data = dataDirectory()
      const service = start(["serve", "--demo", "--port", "0", "--data", data])
      const [key = ""] = await shownKeys({ stdout: service.said })
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
    },
    120_000
  )

  it("keep the value that an operator has set, with which the others are added", async () => {
    const service = start(["serve", "--port", "0", "--data", dataDirectory()], {
      NODE_OPTIONS: "--max-semi-space-size=32"
    })
    await until(() => service.said().includes("Listening on "))
    expect(flagsOf(service.pid)).toEqual(nodeFlags.filter((flag) => !flag.startsWith("--max-semi-space-size")))
  }, 120_000)
})
