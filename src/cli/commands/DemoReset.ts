/** Starting the demo over: what it kept is removed, and the next start makes it again. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import * as fs from "node:fs"
import * as path from "node:path"
import * as DatabaseFacts from "../../layers/postgres/DatabaseFacts.ts"
import * as Pglite from "../../layers/postgres/Pglite.ts"
import { refuse } from "../../operator/UseCase.ts"
import * as Settings from "../settings/Settings.ts"
import * as Output from "./Output.ts"

/** The files that the service makes in a data directory. */
const made = [
  "database",
  "database.new",
  "blobs",
  "pepper",
  "csrf-key",
  "checkpoint-key",
  "checkpoint-last",
  "console.address",
  "console.sock",
  "console.lock"
]

/** Refuses a database with anything in it that is not simulated. */
const refuseOthers = Effect.fnUntraced(function*(directory: string) {
  const organizations = yield* DatabaseFacts.organizations
  if (organizations === null) return
  const real = organizations.find(({ simulated }) => !simulated)
  if (real !== undefined) return yield* refuse(`${directory} holds the organization ${real.id}: it is no demo.`)
  if (!organizations.some(({ id }) => id === "demo")) return yield* refuse(`${directory} holds no demo.`)
})

const remove = (directory: string): void => {
  for (const name of made) fs.rmSync(path.join(directory, name), { recursive: true, force: true })
  if (fs.readdirSync(directory).length === 0) fs.rmdirSync(directory)
}

const reset = Command.make(
  "reset",
  { data: Settings.server.data, json: Output.json },
  (input) =>
    Effect.gen(function*() {
      const directory = Option.getOrElse(input.data, () => Settings.demoDirectory)
      const there = fs.existsSync(path.join(directory, "database"))
      if (there) {
        yield* refuseOthers(directory).pipe(Effect.provide(Pglite.layer({ directory })))
        remove(directory)
      }
      yield* Output.print(input.json, { directory, removed: there }, () => [
        there ? `Removed the demo in ${directory}; the next start makes it anew.` : `There is no demo in ${directory}.`
      ])
    })
).pipe(
  Command.withDescription("Remove the demo, with everything that was done in it; the next start makes it anew"),
  Output.examples(["demo reset", "Start the demo over"])
)

/** The commands around the demo, which `serve --demo` starts. */
export const demo = Command.make("demo").pipe(
  Command.withSubcommands([reset])
)
