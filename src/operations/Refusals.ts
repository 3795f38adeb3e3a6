/** What every operation refuses with, before it looks at anything of its own. */
import { SchemaAST, SchemaIssue } from "effect"
import * as Failure from "../domain/Failure.ts"

/** The failures that every operation can answer with (specification, sections 4 and 7). */
export const commonFailures = [
  Failure.ParameterInvalid,
  Failure.InvalidApiKey,
  Failure.InvalidToken,
  Failure.InsufficientScope,
  Failure.OrganizationClosed,
  Failure.RateLimited,
  Failure.InternalError,
  Failure.ServiceUnavailable
] as const

/** What a role that may not call an operation gets. */
export type Refusal = typeof Failure.RoleForbidden | typeof Failure.SuperadminRequired

/** What is checked before an operation looks at its input. */
export type AdmissionFailure =
  | Failure.RateLimited
  | Failure.InsufficientScope
  | Failure.OrganizationClosed
  | InstanceType<Refusal>
  | Failure.ServiceUnavailable

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  // The default texts repeat the input, which may be a secret.
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? "is required"
      : issue._tag === "UnexpectedKey" || (issue._tag === "InvalidType" && SchemaAST.isNever(issue.ast))
      ? "is not known here"
      : issue._tag === "InvalidType"
      ? "has the wrong type"
      : "has a value that is not allowed",
  checkHook: (issue) => `expected ${issue.filter.annotations?.expected ?? "another value"}`
})

/** The refusal of an input, which names the first member at fault. */
export const parameterInvalid = (issue: SchemaIssue.Issue): Failure.ParameterInvalid => {
  const first = formatIssue(issue).issues[0]
  const param = String(first?.path?.[0] ?? "") || "body"
  return new Failure.ParameterInvalid({ param, message: `${param}: ${first?.message ?? "invalid"}.` })
}
