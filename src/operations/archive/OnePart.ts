import { Effect } from "effect"
import { ParameterInvalid } from "../../domain/Failure.ts"

/** Fails unless one of the members is there: each answer is bounded for one of them. */
export const onePart = (members: Readonly<Record<string, unknown>>): Effect.Effect<void, ParameterInvalid> => {
  const [, second] = Object.keys(members)
  return second === undefined
    ? Effect.void
    : Effect.fail(
      new ParameterInvalid({ param: second, message: `${second}: a request has one such member, and this is another.` })
    )
}
