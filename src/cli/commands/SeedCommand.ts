/** The command that loads a seed file. */
import type { Schema } from "effect"
import { Effect, Redacted } from "effect"
import { Argument, Command } from "effect/cli"
import * as fs from "node:fs"
import { Refused } from "../../operator/UseCase.ts"
import * as Settings from "../settings/Settings.ts"
import { run } from "./OperatorCommand.ts"
import * as Output from "./Output.ts"

const readJson = (file: string) =>
  Effect.try({
    try: (): Schema.Json => JSON.parse(fs.readFileSync(file, "utf8")),
    catch: (cause) =>
      new Refused({
        message: cause instanceof SyntaxError ? `${file} is not JSON: ${cause.message}` : `${file} cannot be read.`
      })
  })

/** Loads a seed file. */
export const seed = Command.make("seed", {
  ...Settings.database,
  file: Argument.String("file").pipe(Argument.withDescription("A seed file; seed.schema.json describes it"))
}, (input) =>
  Effect.gen(function*() {
    yield* Output.progress(`Loading ${input.file}`)
    const seed = yield* readJson(input.file)
    const answer = yield* run(input, (requests) => requests.seed({ seed }), { makes: true }).pipe(
      Effect.ensuring(Output.progressDone)
    )
    const keys = answer.keys.map((made) => ({ ...made, key: Redacted.value(made.key) }))
    yield* Output.print(true, { ...answer, keys }, () => [])
  }))
