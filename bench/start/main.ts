/** How long the built program takes to start, and what it holds in memory: `npm run bench:start`. */
import { Effect } from "effect"
import * as childProcess from "node:child_process"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { createConsole, migrate } from "../../test/support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/postgres/databaseServer.ts"
import { type Figure, record } from "../support/figure.ts"

const root = path.join(import.meta.dirname, "../..")

const { values } = parseArgs({
  options: {
    program: { type: "string", default: path.join(root, "dist/cli/main.js") },
    runs: { type: "string", default: "7" },
    rest: { type: "string", default: "5" }
  }
})
const runs = Number(values.runs)

type Environment = Readonly<Record<string, string>>

interface Started {
  readonly seconds: number
  /** MiB at most. */
  readonly peak: number
  /** MiB after it has rested. */
  readonly resting: number
}

/** Prints what the process held at most as it ends. */
const reporter = "data:text/javascript," +
  encodeURIComponent("process.on('exit', () => console.error('PEAK', process.resourceUsage().maxRSS))")

const resident = (pid: number): number =>
  Number(childProcess.execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024

/** Runs the program until its standard output holds what is waited for, or to its end. */
const start = async (
  args: ReadonlyArray<string>,
  env: Environment,
  { ready, rest = 0, stdin }: { readonly ready?: RegExp; readonly rest?: number; readonly stdin?: string } = {}
): Promise<Started & { readonly output: string }> => {
  const from = process.hrtime.bigint()
  const elapsed = () => Number(process.hrtime.bigint() - from) / 1e9
  const child = childProcess.spawn(process.execPath, ["--import", reporter, values.program, ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? os.homedir(), ...env }
  })
  let output = ""
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => errors += text)
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  const seconds = new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text
      if (ready?.test(output) === true) resolve(elapsed())
    })
    void ended.then((status) =>
      status === 0 ? resolve(elapsed()) : reject(new Error(`${args.join(" ")} ended with ${status}: ${errors}`))
    )
  })
  if (stdin !== undefined) child.stdin.write(stdin)
  if (ready === undefined) child.stdin.end()
  const took = await seconds
  let resting = 0
  if (ready !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, rest * 1000))
    resting = resident(child.pid ?? 0)
    child.stdin.end()
    child.kill("SIGTERM")
  }
  await ended
  return { seconds: took, peak: Number(/PEAK (\d+)/.exec(errors)?.[1] ?? 0) / 1024, resting, output }
}

const median = (numbers: ReadonlyArray<number>): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

/** At most: seconds to the start's end, MiB at its peak, and MiB at rest. */
interface Goal {
  readonly seconds?: number
  readonly peak?: number
  readonly resting?: number
}

const rows: Array<ReadonlyArray<string>> = []

const shown = (value: number, digits: number, goal: number | undefined): string =>
  `${value.toFixed(digits)}${goal === undefined ? "" : ` of ${goal}`}`

/** Measures one start several times, after one that fills the caches. */
const measure = async (name: string, goal: Goal, once: () => Promise<Started>): Promise<void> => {
  await once()
  const all: Array<Started> = []
  for (let run = 0; run < runs; run++) all.push(await once())
  const of = (pick: (one: Started) => number) => median(all.map(pick))
  const [seconds, peak, resting] = [of((one) => one.seconds), of((one) => one.peak), of((one) => one.resting)]
  const reached = seconds <= (goal.seconds ?? Infinity) && peak <= (goal.peak ?? Infinity) &&
    resting <= (goal.resting ?? Infinity)
  rows.push([
    name,
    shown(seconds, 2, goal.seconds),
    Math.max(...all.map((one) => one.seconds)).toFixed(2),
    shown(peak, 0, goal.peak),
    resting === 0 ? "" : shown(resting, 0, goal.resting),
    Object.keys(goal).length === 0 ? "" : reached ? "yes" : "falls short"
  ])
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "start-"))
const server = await DatabaseServer.start()
try {
  const url = await createConsole(server, "console")
  await Effect.runPromise(migrate(url))
  const secret = () => crypto.randomBytes(32).toString("base64")
  const postgres = {
    CONSOLE_DATABASE_URL: url,
    CONSOLE_PEPPERS: secret(),
    CONSOLE_CHECKPOINT_KEYS: secret(),
    CONSOLE_CSRF_KEYS: secret()
  }
  const embedded = { CONSOLE_DATA: path.join(folder, "data") }
  const seed = path.join(folder, "seed.json")
  fs.writeFileSync(seed, JSON.stringify({ organizations: [] }))
  await start(["seed", seed], embedded)
  await start(["organizations", "create", "acme", "--name", "Acme", "--owner", "o@acme.example"], postgres)
  await start(["organizations", "create", "acme", "--name", "Acme", "--owner", "o@acme.example"], embedded)
  const { output } = await start(
    ["keys", "create", "acme", "o@acme.example", "--label", "k", "--scopes", "org:read"],
    embedded
  )
  const key = { ...embedded, CONSOLE_API_KEY: output.split("\n", 1)[0] ?? "" }
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
  }

  await measure("--help", { seconds: 0.25, peak: 90 }, () => start(["--help"], {}))
  await measure("keys list, PostgreSQL", {}, () => start(["keys", "list", "acme"], postgres))
  await measure("journal verify, PostgreSQL", {}, () => start(["journal", "verify"], postgres))
  await measure("keys list, embedded", {}, () => start(["keys", "list", "acme"], embedded))
  await measure(
    "serve, PostgreSQL",
    { seconds: 0.6, resting: 150 },
    () => start(["serve", "--port", "0"], postgres, { ready: /Listening on \S+/, rest: Number(values.rest) })
  )
  await measure(
    "mcp, embedded, to its first answer",
    {},
    () => start(["mcp"], key, { ready: /\n/, stdin: `${JSON.stringify(initialize)}\n` })
  )
} finally {
  await server.remove()
  fs.rmSync(folder, { recursive: true })
}

const figure: Figure = {
  name: "start",
  title: "Start",
  command: "npm run bench:start",
  text: [
    `How long the built program takes to start, and what it holds in memory: ${runs} starts each after one that fills the caches, on PostgreSQL with one organization. A command is timed to its end, \`serve\` to its line \`Listening on\`, \`mcp\` to its first answer; at rest is ${values.rest} s later without a request. How soon a large database's service is ready stands in [How cost grows](scale.md).`
  ],
  tables: [{
    title: "Starts of the built program",
    columns: ["start", "median s", "slowest s", "peak MiB", "at rest MiB", "goals reached"],
    rows
  }],
  charts: []
}
record(figure)
