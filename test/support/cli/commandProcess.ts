/** The command line as processes of their own, on loopback, with nothing of this process's settings. */
import * as childProcess from "node:child_process"
import { flags, main, root } from "../run/program.ts"

/** The environment of a command: of this process, all but its settings. */
export const environment = (settings: Record<string, string>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith("CONSOLE_") ? [] : [[name, value]]
    )
  ),
  ...settings
})

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Settings {
  readonly env?: Record<string, string>
  readonly stdin?: string
}

/** Runs a command to its end; one that has none is killed after a minute and a half. */
export const run = (args: ReadonlyArray<string>, { env = {}, stdin = "" }: Settings = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = childProcess.spawn(process.execPath, [...flags, main, ...args], {
      cwd: root,
      env: environment(env),
      timeout: 90_000,
      killSignal: "SIGKILL"
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.once("error", reject)
    child.once("close", (status) => resolve({ status, stdout, stderr }))
    child.stdin.on("error", () => {}).end(stdin)
  })

/** Runs a command that must succeed, and answers its standard output. */
export const done = async (args: ReadonlyArray<string>, settings?: Settings): Promise<string> => {
  const { status, stderr, stdout } = await run(args, settings)
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`)
  return stdout
}

/** A started service. */
export interface Service {
  readonly address: string
  readonly pid: number
  /** What it has printed until now. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends a signal without waiting. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>
  /** Stops it, and answers its exit code. */
  readonly stop: (signal?: "SIGTERM" | "SIGKILL") => Promise<number | null>
}

/** Starts `serve` on a free port, and waits until it has said where it listens; `node` are flags of Node itself. */
export const serve = async (
  args: ReadonlyArray<string>,
  env: Record<string, string> = {},
  node: ReadonlyArray<string> = []
): Promise<Service> => {
  const child = childProcess.spawn(process.execPath, [...flags, ...node, main, "serve", "--port", "0", ...args], {
    cwd: root,
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"]
  })
  let stdout = ""
  let stderr = ""
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      const found = /Listening on (\S+)/.exec(stdout)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    void ended.then((status) => reject(new Error(`serve ended with ${status}: ${stderr}`)))
  })
  const signal = (name: NodeJS.Signals) => void child.kill(name)
  return {
    address,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    signal,
    ended,
    stop: (name = "SIGTERM") => {
      signal(name)
      return ended
    }
  }
}
