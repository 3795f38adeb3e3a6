/** The command line as a person runs it: processes of their own, on loopback, with nothing of this process's settings. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { onTestFinished } from "vitest"

const root = path.join(import.meta.dirname, "../..")
const main = path.join(root, "src/cli/main.ts")

const environment = (settings: Record<string, string>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CONSOLE_"))),
  ...settings
})

/** A directory that is gone when the test is. */
export const freshDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "console-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Settings {
  readonly env?: Record<string, string>
  readonly stdin?: string
}

/** Runs a command to its end. */
export const run = (args: ReadonlyArray<string>, { env = {}, stdin = "" }: Settings = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = childProcess.spawn(process.execPath, [main, ...args], { cwd: root, env: environment(env) })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.once("error", reject)
    child.once("close", (status) => resolve({ status, stdout, stderr }))
    child.stdin.end(stdin)
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
  /** What it has printed until now. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends SIGTERM without waiting. */
  readonly terminate: () => void
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>
  /** Stops it, and answers its exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts `serve` on a free port, and waits until it has said all that it says at the start. */
export const serve = async (args: ReadonlyArray<string>, env: Record<string, string> = {}): Promise<Service> => {
  const child = childProcess.spawn(process.execPath, [main, "serve", "--port", "0", ...args], {
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
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const terminate = () => void child.kill("SIGTERM")
  return {
    address,
    stdout: () => stdout,
    stderr: () => stderr,
    terminate,
    ended,
    stop: () => {
      terminate()
      return ended
    }
  }
}

/** Waits until something holds, as long as the test lives. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Asks a service as a program does. */
export const ask = async (address: string, key: string, method: string, at: string, body?: unknown) => {
  const response = await fetch(new URL(at, address), {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, headers: response.headers, body: await response.json() as any }
}

/** The whole output of a service's welcome is one write after another; this waits for its last line. */
export const shownKeys = async (service: Service): Promise<ReadonlyArray<string>> => {
  await until(() => service.stdout().includes("/v1/journal?limit=1\"\n"))
  return [...service.stdout().matchAll(/^ {2}Demo \w+ +(\S+)$/gm)].map(([, key = ""]) => key)
}
