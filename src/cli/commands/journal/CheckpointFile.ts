/** Reads checkpoints that were kept outside the database: printed by a command, or pushed one a line. */
import { Effect, Schema } from "effect"
import * as fs from "node:fs"
import * as Journals from "../../../operator/journal/Journals.ts"
import { Refused } from "../../../operator/UseCase.ts"

/** The text of a file that a flag names. */
export const readText = (file: string) =>
  Effect.try({
    try: () => fs.readFileSync(file, "utf8"),
    catch: () => new Refused({ message: `${file} cannot be read.` })
  })

const decodeKept = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ checkpoints: Schema.Array(Journals.KeptProof) }))
)
const decodeLine = Schema.decodeUnknownEffect(Schema.fromJsonString(Journals.KeptProof))

/** One on each line; a line that a crash tore counts as nothing where it is the last, or is there whole further on. */
const decodeLines = (text: string) => {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const isTorn = (line: string, index: number) => {
    const after = lines.slice(index + 1)
    return after.length === 0 ? index > 0 && !text.endsWith("\n") : after.some((later) => later.startsWith(line))
  }
  return Effect.map(
    Effect.forEach(lines, (line, index) =>
      decodeLine(line).pipe(
        Effect.map((kept) => [kept]),
        Effect.catch((cause) => isTorn(line, index) ? Effect.succeed([]) : Effect.fail(cause))
      )),
    (found) => found.flat()
  )
}

/** The checkpoints of a file, of which there is one at least. */
export const read = Effect.fnUntraced(function*(file: string) {
  const text = yield* readText(file)
  const proves = new Refused({ message: `${file} holds no checkpoint: it proves nothing.` })
  if (text.trim() === "") return yield* proves
  const found = yield* Effect.mapError(
    Effect.catch(Effect.map(decodeKept(text), ({ checkpoints }) => checkpoints), () => decodeLines(text)),
    () => new Refused({ message: `${file} does not hold checkpoints.` })
  )
  return found.length === 0 ? yield* proves : found
})
