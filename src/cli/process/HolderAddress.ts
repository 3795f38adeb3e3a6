/** The address at which the service that holds a data directory listens, for programs that may read the directory. */
import { Effect, Option, Schema } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"

const Address = Schema.Struct({
  pid: Schema.Int,
  url: Schema.String,
  /** The name that the service answers to there. */
  host: Schema.String
})

export type Address = typeof Address.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Address))

const fileOf = (directory: string) => path.join(path.resolve(directory), "console.address")

/** Writes the address into the directory, which the caller holds, and removes it at the end. */
export const publish = (directory: string, address: Omit<Address, "pid">) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const file = fileOf(directory)
      fs.rmSync(file, { force: true })
      fs.writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, ...address }), { mode: 0o600 })
      fs.renameSync(`${file}.new`, file)
      return file
    }),
    (file) => Effect.sync(() => fs.rmSync(file, { force: true }))
  )

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The address of the living service that holds the directory; what a killed one left behind counts for nothing. */
export const find = (directory: string): Effect.Effect<Option.Option<Address>> =>
  Effect.sync(() => {
    const file = fileOf(directory)
    return fs.existsSync(file)
      ? Option.filter(decode(fs.readFileSync(file, "utf8")), ({ pid }) => lives(pid))
      : Option.none()
  })
