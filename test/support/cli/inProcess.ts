/** Commands in the test's own process, where a test says nothing of processes: they start at once. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Stdio, Stream } from "effect"
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { vi } from "vitest"
import * as Errors from "../../../src/cli/process/ErrorReports.ts"
import * as Program from "../../../src/cli/Program.ts"
import { type Ended, environment, type Settings } from "./commandProcess.ts"

/** What is written to a stream of this process, in place of writing it. */
const taken = (stream: NodeJS.WriteStream) => {
  let text = ""
  const writable = new Writable({
    decodeStrings: false,
    write: (part, _, done) => {
      text += String(part)
      done()
    }
  })
  const spy = vi.spyOn(stream, "write").mockImplementation((part, ...more) => {
    text += String(part)
    for (const done of more) if (typeof done === "function") done()
    return true
  })
  return { writable, text: () => text, giveBack: () => spy.mockRestore() }
}

let before: Promise<unknown> = Promise.resolve()

const runNow = async (args: ReadonlyArray<string>, { env = {}, stdin = "" }: Settings): Promise<Ended> => {
  const words = process.argv
  const [stdout, stderr] = [taken(process.stdout), taken(process.stderr)]
  process.argv = [...words.slice(0, 2), ...args]
  try {
    const exit = await Effect.runPromiseExit(Program.run.pipe(
      Effect.provideService(Console.Console, new NodeConsole(stdout.writable, stderr.writable)),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: environment(env) })),
      Effect.updateService(
        Stdio.Stdio,
        (stdio) => Stdio.make({ ...stdio, args: Effect.succeed(args), stdin: Stream.encodeText(Stream.make(stdin)) })
      ),
      Effect.provide(NodeServices.layer)
    ))
    return { status: Errors.exitCode(exit), stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    process.argv = words
    stdout.giveBack()
    stderr.giveBack()
  }
}

/** Runs a command to its end, after those before it. */
export const runInProcess = (args: ReadonlyArray<string>, settings: Settings = {}): Promise<Ended> => {
  const ended = before.then(() => runNow(args, settings))
  before = ended.catch(() => undefined)
  return ended
}

/** Runs a command that must succeed, and answers its standard output. */
export const doneInProcess = async (args: ReadonlyArray<string>, settings?: Settings): Promise<string> => {
  const { status, stderr, stdout } = await runInProcess(args, settings)
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`)
  return stdout
}

/** Makes the organization `acme` with its owner olivia@acme.example in the data directory. */
export const createAcme = (data: string): Promise<string> =>
  doneInProcess([
    ..."organizations create acme --name Acme --owner olivia@acme.example --data".split(" "),
    data
  ])

/** Makes a key of the owner of `acme` in the data directory, which reads the organization. */
export const createKey = async (data: string): Promise<string> => {
  const words = "keys create acme olivia@acme.example --label Reader --scopes org:read --data".split(" ")
  return (await doneInProcess([...words, data])).trim()
}
