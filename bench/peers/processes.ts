/** The processes of the comparison, and what the operating system says that they use. Linux alone tells it this way. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import { main } from "../../test/support/run/program.ts"

const root = path.join(import.meta.dirname, "../..")

export interface Server {
  readonly pid: number
  readonly address: string
  readonly stop: () => Promise<void>
}

const environment = (settings: Readonly<Record<string, string>>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CONSOLE_"))),
  ...settings
})

/** Starts a server, which prints its address as `Listening on …`; what it logs goes to a file that goes with it. */
const startServer = async (
  args: ReadonlyArray<string>,
  settings: Readonly<Record<string, string>>
): Promise<Server> => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "peers-"))
  const log = path.join(directory, "log")
  const written = fs.openSync(log, "a")
  const child = childProcess.spawn(process.execPath, [...args], {
    cwd: root,
    env: environment(settings),
    stdio: ["ignore", "pipe", written]
  })
  fs.closeSync(written)
  let output = ""
  const ended = new Promise<string>((resolve) =>
    child.once("close", () => {
      const text = fs.readFileSync(log, "utf8")
      fs.rmSync(directory, { recursive: true })
      resolve(text.slice(-4000))
    })
  )
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output = `${output}${text}`.slice(-4000)
      const found = /Listening on (\S+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
    void ended.then((text) => reject(new Error(`${args.join(" ")} ended: ${text}`)))
  })
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
  }
  return { pid: child.pid ?? 0, address, stop }
}

const ticksPerSecond = (): number => Number(childProcess.execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))
let ticks: number | undefined

interface Stat {
  readonly parent: number
  readonly own: number
  /** Of children that have ended. */
  readonly past: number
}

const statOf = (pid: number): Stat => {
  const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  // The name, in parentheses, may hold spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number)
  const at = (index: number) => fields[index] ?? 0
  ticks ??= ticksPerSecond()
  const millis = (value: number) => value * 1000 / (ticks ?? 100)
  return { parent: at(1), own: millis(at(11) + at(12)), past: millis(at(13) + at(14)) }
}

/** Milliseconds of processor time that the process has used, in its own code and in the kernel's. */
export const cpuOf = (pid: number): number => statOf(pid).own

/** The same of a process with all its children, alive and ended. */
export const cpuOfFamily = (pid: number): number => {
  const { own, past } = statOf(pid)
  const children = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const stat = statOf(Number(name))
      return stat.parent === pid ? [stat.own] : []
    } catch {
      return []
    }
  })
  return children.reduce((sum, value) => sum + value, own + past)
}

/** Nanoseconds that the main thread of the process has run. */
export const runTimeOf = (pid: number): number =>
  Number(fs.readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0])

/** Keeps the process, and what it will start, to the cores of a list such as `1-3`. */
export const keepTo = (cores: string, pid: number): void => {
  childProcess.execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", cores, String(pid)])
}

/** System calls of the process that read and that wrote, those of its log included. */
export const callsOf = (pid: number): { readonly reads: number; readonly writes: number } => {
  const text = fs.readFileSync(`/proc/${pid}/io`, "utf8")
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(text)?.[1] ?? 0)
  return { reads: count("syscr"), writes: count("syscw") }
}

/** MiB that the process holds in memory: all, or what of it is files of programs and libraries. */
export const memoryOf = (pid: number, what: "VmRSS" | "RssFile" = "VmRSS"): number => {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(new RegExp(`^${what}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024
}

/** The flags with which Node writes a report into the directory when the system sends it SIGUSR2. */
export const reporting = (directory: string): ReadonlyArray<string> => [
  "--report-on-signal",
  "--report-exclude-network",
  `--report-directory=${directory}`
]

interface Report {
  readonly javascriptHeap: {
    readonly externalMemory: number
    readonly heapSpaces: Readonly<Record<string, { readonly committedMemory: number }>>
  }
}

/** The memory of a process that writes reports, by what it is for, in MiB. */
export const memoryPartsOf = async (pid: number, directory: string): Promise<ReadonlyArray<number>> => {
  process.kill(pid, "SIGUSR2")
  let name: string | undefined
  while (name === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    name = fs.readdirSync(directory).at(-1)
  }
  const { javascriptHeap }: Report = JSON.parse(fs.readFileSync(path.join(directory, name), "utf8"))
  const spaces = Object.entries(javascriptHeap.heapSpaces)
  const heap = (young: boolean) =>
    spaces.filter(([name]) => name.startsWith("new_") === young)
      .reduce((sum, [, { committedMemory }]) => sum + committedMemory, 0) / 2 ** 20
  const all = memoryOf(pid)
  const parts = [memoryOf(pid, "RssFile"), heap(true), heap(false), javascriptHeap.externalMemory / 2 ** 20]
  return [all, ...parts, all - parts.reduce((sum, part) => sum + part)]
}

/** The flags of Node that the service runs with, however it is started. */
export const deployedFlags = nodeFlags.join(" ")

/** How a server is started: by which program, with which flags of Node. */
export interface Starting {
  readonly program?: string
  readonly flags?: ReadonlyArray<string>
  /** The proxies whose word the service takes for where a request comes from. */
  readonly trustedProxies?: string
}

/** The program of the service as it is installed; `npm run build` makes it. */
export const installed = "dist/cli/main.js"

/** The installed program with the flags that it is deployed with. */
export const deployed: Starting = { program: installed, flags: nodeFlags }

/** The service as a user runs it, with its log as lines of JSON. */
export const startService = (
  databaseUrl: string,
  pepper: string,
  { flags = [], program = main, trustedProxies }: Starting = {}
): Promise<Server> =>
  startServer([...flags, program, "serve", "--port", "0"], {
    ...(trustedProxies === undefined ? {} : { CONSOLE_TRUSTED_PROXIES: trustedProxies }),
    CONSOLE_DATABASE_URL: databaseUrl,
    CONSOLE_PEPPERS: pepper,
    CONSOLE_CHECKPOINT_KEYS: pepper,
    CONSOLE_CSRF_KEYS: pepper,
    CONSOLE_LOG_FORMAT: "json"
  })

/** The same with its embedded database in a directory. */
export const startEmbedded = (
  directory: string,
  pepper: string,
  { flags = [], program = main }: Starting = {}
): Promise<Server> =>
  startServer([...flags, program, "serve", "--port", "0", "--data", directory], {
    CONSOLE_PEPPERS: pepper,
    CONSOLE_LOG_FORMAT: "json"
  })

export const startPeer = (databaseUrl: string, pepper: string, { flags = [] }: Starting = {}): Promise<Server> =>
  startServer([...flags, "bench/peers/peer/main.ts"], { PEER_DATABASE_URL: databaseUrl, PEER_PEPPER: pepper })

/** The floor, which answers of one organization alone. */
export const startFloor = (databaseUrl: string, organizationId: string): Promise<Server> =>
  startServer(["bench/peers/floor.ts"], { FLOOR_DATABASE_URL: databaseUrl, FLOOR_ORGANIZATION: organizationId })
