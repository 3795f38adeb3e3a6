/** What an operator may ask for: a name, what it takes and answers, and what it does. */
import { Effect, Schema } from "effect"

/** The refusal of what an operator asked for; the message is one line. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** Fails with one line. */
export const refuse = (message: string) => Effect.fail(new Refused({ message }))

/** What a request is made of, without what it does. */
export interface Contract<Name extends string, Input extends Schema.Top, Output extends Schema.Top> {
  readonly name: Name
  readonly input: Input
  readonly output: Output
}

/** Declares what is asked for and answered, in whatever process it is done. */
export const contract = <const Name extends string, Input extends Schema.Top, Output extends Schema.Top>(
  name: Name,
  input: Input,
  output: Output
): Contract<Name, Input, Output> => ({ name, input, output })

/** Declares a use case. */
export const useCase = <const Name extends string, Input extends Schema.Top, Output extends Schema.Top, E, R>(
  name: Name,
  input: Input,
  output: Output,
  run: (input: Input["Type"]) => Effect.Effect<Output["Type"], E, R>
) => ({ name, input, output, run })
