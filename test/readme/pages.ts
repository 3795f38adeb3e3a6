/** The documents' blocks, and a person who pastes them into terminals from top to bottom. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import { flags, main, root } from "../support/run/program.ts"

export { root }

export interface Block {
  /** The words after the fence, such as `sh` or `ts embed`. */
  readonly kind: string
  readonly code: string
}

/** The pages of the folder of documents. */
export const documents = fs.readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) =>
  `docs/${name}`
)

/** The page, or one section of it. */
export const read = (file: string, section?: string): string => {
  const text = fs.readFileSync(path.join(root, file), "utf8")
  if (section === undefined) return text
  const [, found] = new RegExp(`^## ${section}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(text) ?? []
  if (found === undefined) throw new Error(`${file} has no section ${section}`)
  return found
}

/** The fenced blocks in the order of the page. */
export const blocks = (text: string): ReadonlyArray<Block> =>
  [...text.matchAll(/^```([^\n]*)\n([^]*?)^```$/gm)].map(([, kind = "", code = ""]) => ({ kind, code }))

/** A free port of the loopback. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** What a clone has at its top, as far as the commands look for it. */
const cloned = ["package.json", "node_modules", "src", "scripts", "seeds", "openapi.json"]

const command = `exec '${process.execPath}' ${flags.join(" ")} '${main}' "$@"`

/**
 * The blocks' programs, in front of those of the machine: all is installed, these tests run already, and a command is
 * the program that this run has built, which starts in a fraction of the time that its sources take.
 */
const programs = {
  npm: `#!/bin/sh
case "$1 $2" in
ci*|test*) exit 0 ;;
"run cli") shift 3; ${command} ;;
esac
PATH="\${PATH#*:}" exec npm "$@"
`,
  "security-console": `#!/bin/sh\n${command}\n`
}

interface Running {
  readonly child: childProcess.ChildProcess
  readonly ended: Promise<number | null>
}

/** A clone without data of its own, terminals in it, and at most one service that a block has started. */
export class Clone {
  readonly address: string
  readonly env: Record<string, string | undefined>
  readonly #folder: string
  #running: Running | undefined

  constructor(folder: string, port: number) {
    this.#folder = folder
    this.address = `http://127.0.0.1:${port}`
    for (const name of cloned) fs.symlinkSync(path.join(root, name), path.join(folder, name))
    const bin = path.join(folder, ".bin")
    fs.mkdirSync(bin)
    for (const [name, text] of Object.entries(programs)) fs.writeFileSync(path.join(bin, name), text, { mode: 0o755 })
    this.env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:CONSOLE_|npm_)/.test(name))),
      PATH: `${bin}:${path.dirname(process.execPath)}:${process.env["PATH"]}`,
      CONSOLE_PORT: String(port)
    }
  }

  /** The text with this clone's own address in place of the documented one. */
  here(text: string): string {
    return text.replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):8080/g, this.address)
  }

  #spawn(code: string): childProcess.ChildProcessWithoutNullStreams {
    return childProcess.spawn("bash", ["-euo", "pipefail", "-c", this.here(code)], {
      cwd: this.#folder,
      env: this.env,
      detached: true
    })
  }

  /** Runs a block to its end, and answers what it printed. */
  run(code: string, stdin = ""): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = this.#spawn(code)
      let stdout = ""
      let stderr = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
      child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
      child.stdin.on("error", () => {}).end(stdin)
      const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 120_000)
      child.once("close", (status) => {
        clearTimeout(timer)
        if (status === 0) resolve(stdout)
        else reject(new Error(`This block ended with ${status}:\n${code}\n${stdout}\n${stderr}`))
      })
    })
  }

  /** Starts a block that serves, in place of the one that runs, and answers what it greets with. */
  async start(code: string): Promise<string> {
    await this.stop()
    const child = this.#spawn(code)
    const demo = /\bnpm start$/m.test(code)
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
    this.#running = { child, ended }
    let output = ""
    return new Promise((resolve, reject) => {
      child.stderr.setEncoding("utf8").on("data", (text: string) => output += text)
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
        // The demo's greeting is written at once, after the address.
        if (
          /Listening on http\S+\n/.test(output) &&
          (!demo || output.includes("/v1/journal?account_id=$ACCOUNT&limit=1\"\n"))
        ) {
          resolve(output)
        }
      })
      void ended.then((status) => reject(new Error(`This block ended with ${status}:\n${code}\n${output}`)))
    })
  }

  /** Presses Ctrl+C in the terminal of the service. */
  async stop(): Promise<void> {
    if (this.#running === undefined) return
    const { child, ended } = this.#running
    this.#running = undefined
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGINT")
    await ended
  }

  /** Pastes a page's shell blocks one after another, and answers what each printed. */
  async paste(page: string): Promise<ReadonlyArray<string>> {
    const printed: Array<string> = []
    for (const { code, kind } of blocks(page)) {
      if (kind !== "sh") continue
      const output = /\bnpm start$|-- serve\b.*$/m.test(code)
        ? await this.start(code)
        : await this.run(code, "another long password\n")
      const [, key] = /^ {2}export KEY=(\S+)$/m.exec(output) ?? []
      if (key !== undefined) this.env["KEY"] = key
      printed.push(output)
    }
    return printed
  }
}
