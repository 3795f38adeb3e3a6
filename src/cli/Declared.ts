/** What a command that works on a database is made of: its input, its answer, and what it does, as JSON throughout. */
import { Effect, Schema, SchemaIssue } from "effect"
import * as Journaled from "../administration/Journaled.ts"
import { refuse, Refused } from "../administration/UseCase.ts"

export { refuse, Refused }

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The refusal of an input, in one line. */
export const unreadable = ({ issue }: Schema.SchemaError): Refused => {
  const [first] = formatIssue(issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return new Refused({ message: `${path}: ${(first?.message ?? "it cannot be read").replaceAll(/\s+/g, " ")}.` })
}

/**
 * Declares a command; `run` gets its input decoded, and its answer is encoded. `execute` is the same from JSON to JSON,
 * and whatever goes wrong is `Refused`.
 */
export const command = <
  Input extends Schema.Codec<unknown, unknown>,
  Output extends Schema.Codec<unknown, unknown>,
  E extends { readonly message: string },
  R
>(name: string, input: Input, output: Output, run: (input: Input["Type"]) => Effect.Effect<Output["Type"], E, R>) => {
  const decode = Schema.decodeUnknownEffect(input, { onExcessProperty: "error" })
  const encode = Schema.encodeEffect(output)
  return {
    name,
    input,
    output,
    execute: (json: unknown): Effect.Effect<unknown, Refused, R> =>
      decode(json).pipe(
        Effect.mapError(unreadable),
        Effect.flatMap(run),
        Effect.mapError(({ message }) => new Refused({ message })),
        Effect.flatMap((answer) => Effect.orDie(encode(answer)))
      )
  }
}

/** The organization of an id, or a refusal that it does not exist. */
export const existing = Journaled.existing

/** The command of a use case. */
export const commandOf = <
  Input extends Schema.Codec<unknown, unknown>,
  Output extends Schema.Codec<unknown, unknown>,
  E extends { readonly message: string },
  R
>({ input, name, output, run }: {
  readonly name: string
  readonly input: Input
  readonly output: Output
  readonly run: (input: Input["Type"]) => Effect.Effect<Output["Type"], E, R>
}) => command(name, input, output, run)
