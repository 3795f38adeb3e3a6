/** How soon the installed package serves after its start, and what it holds in memory at rest. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { memoryOf } from "../peers/processes.ts"
import { median } from "../support/asking.ts"
import type { Table } from "../support/figure.ts"
import type { Ground } from "../support/ground.ts"

const root = path.join(import.meta.dirname, "../..")

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Installs the package as a user does, into an empty folder. */
const install = (folder: string): string => {
  const quiet = { stdio: ["ignore", "pipe", "ignore"] as ["ignore", "pipe", "ignore"], encoding: "utf8" as const }
  const packed = childProcess.execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    ...quiet
  })
  const { peerDependencies } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  childProcess.execFileSync(
    "npm",
    [
      "install",
      "--omit=dev",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
      path.join(folder, packed.trim().split("\n").at(-1) ?? ""),
      `effect@${peerDependencies.effect}`
    ],
    { cwd: folder, ...quiet }
  )
  return path.join(folder, "node_modules/org-security-console/dist/cli/main.js")
}

interface Started {
  readonly millis: number
  readonly mebibytes: number | undefined
}

/** Starts it, asks /readyz until it answers 200, and looks at its memory after so many seconds of rest. */
const start = async (
  main: string,
  args: ReadonlyArray<string>,
  settings: Readonly<Record<string, string>>,
  rest: number
): Promise<Started> => {
  const port = await freePort()
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CONSOLE_"))),
    ...settings
  }
  const begun = process.hrtime.bigint()
  const child = childProcess.spawn(process.execPath, [main, "serve", "--port", String(port), ...args], {
    env,
    stdio: "ignore"
  })
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  try {
    while (true) {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
      await response?.text()
      if (response?.status === 200) break
      if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}`)
      await wait(10)
    }
    const millis = Number(process.hrtime.bigint() - begun) / 1e6
    if (rest > 0) await wait(rest * 1000)
    return { millis, mebibytes: rest > 0 ? memoryOf(child.pid ?? 0) : undefined }
  } finally {
    child.kill("SIGTERM")
    await ended
  }
}

/** Starts each way so many times. */
export const measureColdStart = async (ground: Ground, times: number, rest: number): Promise<Table> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "scale-packed-"))
  try {
    const main = install(folder)
    const existing = path.join(folder, "existing")
    const postgres = {
      CONSOLE_DATABASE_URL: ground.url,
      CONSOLE_PEPPERS: ground.pepper,
      CONSOLE_CHECKPOINT_KEYS: ground.pepper,
      CONSOLE_CSRF_KEYS: ground.pepper
    }
    const ways: ReadonlyArray<readonly [string, (turn: number, rest: number) => Promise<Started>]> = [
      ["embedded, new directory", (turn, rest) => start(main, ["--data", path.join(folder, `new-${turn}`)], {}, rest)],
      ["embedded, existing directory", (_, rest) => start(main, ["--data", existing], {}, rest)],
      ["PostgreSQL, migrated", (_, rest) => start(main, [], postgres, rest)]
    ]
    await start(main, ["--data", existing], {}, 0)
    const rows: Array<ReadonlyArray<string | number>> = []
    for (const [name, way] of ways) {
      const started: Array<Started> = []
      for (let turn = 0; turn < times; turn++) started.push(await way(turn, turn === times - 1 ? rest : 0))
      const all = started.map(({ millis }) => millis)
      rows.push([
        name,
        Math.round(median(all)),
        Math.round(Math.max(...all)),
        Math.round(started.at(-1)?.mebibytes ?? 0)
      ])
    }
    return {
      title: "Cold start of the installed package",
      columns: ["database", "first 200 of /readyz, median ms", "slowest, ms", "MiB at rest"],
      rows,
      note:
        `From npm pack and npm install --omit=dev in an empty folder; ${times} starts each, from the process's start on, and the resident memory of the last after ${rest} s without a request. The embedded database is inside this memory, PostgreSQL is not.`
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
