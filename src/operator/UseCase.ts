/** The use cases of an operator: a name, what each takes and answers, and what it does. */
import { Effect, Schema, type Stream } from "effect"

/** The refusal of what an operator asked for; the message is one line. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** Fails with one line. */
export const refuse = (message: string) => Effect.fail(new Refused({ message }))

/** A failure with what it says in one line. */
export interface WordedFailure {
  readonly message: string
}

/**
 * One thing that an operator may ask for, in whatever process it is done.
 *
 * Its name is that of the command: the group and the verb.
 */
export interface UseCase<Name extends string, Input extends Schema.Top, Output extends Schema.Top, Run> {
  readonly name: Name
  readonly input: Input
  readonly output: Output
  readonly run: (input: Input["Type"]) => Run
}

/** Declares a use case. */
export const useCase = <const Name extends string, Input extends Schema.Top, Output extends Schema.Top, E, R>(
  name: Name,
  input: Input,
  output: Output,
  run: (input: Input["Type"]) => Effect.Effect<Output["Type"], E, R>
): UseCase<Name, Input, Output, Effect.Effect<Output["Type"], E, R>> => ({ name, input, output, run })

/** Declares a use case that answers one output after the other. */
export const streamed = <const Name extends string, Input extends Schema.Top, Output extends Schema.Top, E, R>(
  name: Name,
  input: Input,
  output: Output,
  run: (input: Input["Type"]) => Stream.Stream<Output["Type"], E, R>
): UseCase<Name, Input, Output, Stream.Stream<Output["Type"], E, R>> => ({ name, input, output, run })
