/** Checks of a request before it is sent. */
import { Effect, SchemaIssue } from "effect"
import { Refused } from "../../operator/UseCase.ts"

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first thing that is wrong with an input, in one line. */
const lineOf = (issue: SchemaIssue.Issue): string => {
  const [first] = formatIssue(issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return `${path}: ${(first?.message ?? "it cannot be read").replaceAll(/\s+/g, " ")}.`
}

/** Turns the defect with which a client answers an input that is not of its schema into a refusal. */
export const refusedInput = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(effect, (defect) =>
    defect instanceof Error && SchemaIssue.isIssue(defect.cause)
      ? new Refused({ message: lineOf(defect.cause) })
      : Effect.die(defect))
