/** The command line as a person runs it in a test: what a test starts and makes is gone when the test is. */
import * as fs from "node:fs"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import { fillDirectory } from "../postgres/database.ts"
import { scratch } from "../run/scratch.ts"
import * as Command from "./commandProcess.ts"

export { done, run, type Service } from "./commandProcess.ts"

/** A directory that is gone when the test is. */
export const freshDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(scratch, "console-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The same with an empty database in it, which takes ten seconds of a processor to make. */
export const dataDirectory = (): string => {
  const directory = freshDirectory()
  fillDirectory(directory)
  return directory
}

/** Starts `serve` on a free port, and waits until it has said where it listens. */
export const serve: typeof Command.serve = async (...settings) => {
  const service = await Command.serve(...settings)
  onTestFinished(async () => {
    await service.stop("SIGKILL")
  })
  return service
}

/** The flags of Node that a process runs with, up to its program. */
export const flagsOf = (pid: number): ReadonlyArray<string> => {
  const [, ...words] = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  return words.slice(0, words.findIndex((word) => !word.startsWith("--")))
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
export const shownKeys = async (service: Pick<Command.Service, "stdout">): Promise<ReadonlyArray<string>> => {
  await until(() => service.stdout().includes("/v1/journal?account_id=$ACCOUNT&limit=1\"\n"))
  return [...service.stdout().matchAll(/^ {2}Demo \w+ +(\S+)$/gm)].map(([, key = ""]) => key)
}
