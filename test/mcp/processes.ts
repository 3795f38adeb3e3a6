/** The service, its command over standard input and output, and the official clients of both. */
import * as Current from "@modelcontextprotocol/client"
import { StdioClientTransport as CurrentStdio } from "@modelcontextprotocol/client/stdio"
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"
import * as childProcess from "node:child_process"
import * as http from "node:http"
import * as readline from "node:readline"
import { listening } from "../support/http/loopback.ts"
import { flags, main } from "../support/run/program.ts"

type Environment = Readonly<Record<string, string>>

/** What this process has of these, and what is said besides. */
const environment = (extra: Environment) => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  HOME: "/",
  ...extra
})

/** A running process of the service. */
export interface Service {
  readonly url: string
  /** What it has printed so far. */
  readonly output: () => string
  /** Ends it at once, or lets it stop. */
  stop(signal?: "SIGKILL" | "SIGTERM"): Effect.Effect<void>
}

/** Starts the service on a free port; it is gone when the scope closes. */
export const serve = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  env: Environment = {},
  ready = /Listening on (\S+)\n/
) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      childProcess.spawn(process.execPath, [...flags, main, "serve", "--port", "0", ...args], {
        env: environment(env),
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let output = ""
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text
  })
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()))
  const url = yield* Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
        const found = ready.exec(output)
        if (found !== null) resolve(found[1]!)
      })
      child.once("exit", () => reject(new Error(`The service ended: ${errors}`)))
    })
  )
  return {
    url,
    output: () => output,
    stop: (signal = "SIGTERM") =>
      Effect.promise(() => {
        child.kill(signal)
        return ended
      })
  } satisfies Service
})

/**
 * One address in front of services, each request to the next of them.
 *
 * It adds the key where one is given, and keeps its own host in requests where it is the address of the service.
 */
export const front = Effect.fnUntraced(function*(
  targets: ReadonlyArray<string>,
  key?: () => string | undefined,
  keepsHost = false
) {
  let turn = 0
  const server = http.createServer((request, response) => {
    const target = new URL(targets[turn++ % targets.length]!)
    const { host = "" } = request.headers
    const own = !keepsHost && /^(?:localhost|127\.0\.0\.1):/.test(host)
    const forwarded = http.request({
      host: target.hostname,
      port: target.port,
      method: request.method,
      path: request.url,
      headers: {
        ...request.headers,
        host: own ? target.host : host,
        ...(key === undefined ? {} : { authorization: `Bearer ${key()}` })
      }
    }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on("error", () => response.destroy())
    response.on("close", () => forwarded.destroy())
    request.pipe(forwarded)
  })
  return `http://localhost:${yield* listening(server)}`
})

/** What a test does with a client. */
export interface Client {
  list(): Promise<ReadonlyArray<string>>
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<any>
  close(): Promise<void>
}

/** How a client reaches the server. */
export type Way =
  | { readonly url: string; readonly key: string }
  | { readonly args: ReadonlyArray<string>; readonly env: Environment; readonly command?: string }

const stdio = ({ args, command = "mcp", env }: Extract<Way, { readonly args: unknown }>) => ({
  command: process.execPath,
  args: [...flags, main, command, ...args],
  env: environment(env),
  stderr: "pipe" as const
})

const current = (mode: NonNullable<Current.VersionNegotiationOptions["mode"]>) => async (way: Way): Promise<Client> => {
  const client = new Current.Client({ name: "test", version: "1" }, { versionNegotiation: { mode } })
  await client.connect(
    "url" in way
      ? new Current.StreamableHTTPClientTransport(new URL(`${way.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${way.key}` } }
      })
      : new CurrentStdio(stdio(way))
  )
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args, signal) =>
      client.callTool({ name, arguments: args }, signal === undefined ? undefined : { signal }),
    close: () => client.close()
  }
}

const older = async (way: Way): Promise<Client> => {
  const client = new Older({ name: "test", version: "1" })
  const transport = "url" in way
    ? new OlderHttp(new URL(`${way.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${way.key}` } } })
    : new OlderStdio(stdio(way))
  // Its own transports leave out what exactOptionalPropertyTypes asks for.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args, signal) =>
      client.callTool({ name, arguments: args }, undefined, signal === undefined ? undefined : { signal }),
    close: () => client.close()
  }
}

/** The official clients: the current one in each way of finding the revision, and the one before. */
export const clients: Readonly<Record<string, (way: Way) => Promise<Client>>> = {
  "2.x on 2026-07-28": current({ pin: "2026-07-28" }),
  "2.x that finds out": current("auto"),
  "2.x that shakes hands": current("legacy"),
  "1.x": older
}

/** Connects for as long as the scope lasts. */
export const connect = (client: keyof typeof clients, way: Way) =>
  Effect.acquireRelease(
    Effect.promise(() => clients[client]!(way)),
    (connected) => Effect.promise(() => connected.close())
  )

/** Runs `mcp` to its end with the input. */
export const run = (args: ReadonlyArray<string>, env: Environment, input: string) =>
  Effect.promise(() =>
    new Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }>((resolve) => {
      const child = childProcess.spawn(process.execPath, [...flags, main, "mcp", ...args], { env: environment(env) })
      let output = ""
      let errors = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        errors += text
      })
      child.once("close", (code) => resolve({ code, output, errors }))
      child.stdin.end(input)
    })
  )

/** Starts `mcp` for one question after another; it is gone when the scope closes. */
export const start = Effect.fnUntraced(function*(args: ReadonlyArray<string>, env: Environment) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      childProcess.spawn(process.execPath, [...flags, main, "mcp", ...args], {
        env: environment(env),
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()))
  return {
    /** Its next answer, after this question. */
    ask: (message: unknown): Effect.Effect<any> =>
      Effect.promise(async () => {
        child.stdin.write(`${JSON.stringify(message)}\n`)
        const { value } = await lines.next()
        return JSON.parse(value ?? "null")
      }),
    stop: (signal: "SIGKILL" | "SIGTERM") =>
      Effect.promise(() => {
        child.kill(signal)
        return ended
      })
  }
})
