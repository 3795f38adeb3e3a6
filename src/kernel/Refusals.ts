/** The refusals that all operations share, checked before anything of the operation itself. */
import { SchemaAST, type SchemaIssue } from "effect"
import * as Failure from "../domain/Failure.ts"
import { cleanText } from "../domain/messenger/Messenger.ts"
import { type Role, superadmins } from "../domain/people/Access.ts"

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

/** The refusal of a role that may not call an operation. */
export type RoleRefusal =
  | typeof Failure.OwnerRequired
  | typeof Failure.RoleForbidden
  | typeof Failure.SuperadminRequired

/** The refusal of a role that is not among those of an operation. */
export const refusalOf = (roles: ReadonlyArray<Role>): RoleRefusal =>
  roles.some((role) => !superadmins.includes(role))
    ? Failure.RoleForbidden
    : roles.includes("superadmin")
    ? Failure.SuperadminRequired
    : Failure.OwnerRequired

/** The failures of the checks before an operation reads its input. */
export type AdmissionFailure =
  | Failure.RateLimited
  | Failure.InsufficientScope
  | Failure.OrganizationClosed
  | InstanceType<RoleRefusal>
  | Failure.ServiceUnavailable

/** The values that a type allows, in words. */
const allowed = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "Union":
      return ast.types.flatMap(allowed)
    case "Literal":
      return [String(ast.literal)]
    case "String":
      return ["a string"]
    case "Number":
      return ["a number"]
    case "Boolean":
      return ["true or false"]
    case "Null":
      return ["null"]
    case "Arrays":
      return ["an array"]
    default:
      return ["an object"]
  }
}

const oneOf = (values: ReadonlyArray<string>): string =>
  values.length === 1 ? String(values[0]) : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`

/** The place of the first invalid member, and its fault; the value itself is never repeated, which may be a secret. */
const fault = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey> = []
): { readonly path: ReadonlyArray<PropertyKey>; readonly message: string } => {
  switch (issue._tag) {
    case "Pointer":
      return fault(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return fault(issue.issue, path)
    case "Composite":
      return fault(issue.issues[0], path)
    case "AnyOf": {
      const [first] = issue.issues
      return first === undefined ? { path, message: `expected ${oneOf(allowed(issue.ast))}` } : fault(first, path)
    }
    case "Filter":
      return { path, message: `expected ${issue.filter.annotations?.expected ?? "another value"}` }
    case "MissingKey":
      return { path, message: "is required" }
    case "UnexpectedKey":
      return { path, message: "is not known here" }
    case "InvalidType": {
      const ast = SchemaAST.toEncoded(issue.ast)
      return {
        path,
        message: SchemaAST.isNever(issue.ast) ? "is not known here" : `expected ${oneOf(allowed(ast))}`
      }
    }
    default:
      return { path, message: "has a value that is not allowed" }
  }
}

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** A name as it was sent, for people: on one line, and with what cannot be seen of it escaped as in JSON. */
export const shownName = (name: string): string => {
  if (name.trim() !== "" && !unseen.test(name)) return cleanText(name, 100) ?? name
  const escaped = Array.from(
    JSON.stringify(name.slice(0, 100)),
    (character) => unseen.test(character) ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}` : character
  )
  return escaped.join("")
}

/** A member within an input as JavaScript writes it, such as `access.account_ids[0]`. */
const placeOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((part, depth) => depth === 0 ? String(part) : typeof part === "number" ? `[${part}]` : `.${String(part)}`)
    .join("")

/** The refusal of an input: the parameter is named, and in the message the first member of it at fault. */
export const parameterInvalid = (issue: SchemaIssue.Issue): Failure.ParameterInvalid => {
  const { message, path } = fault(issue)
  const param = String(path[0] ?? "") || "body"
  const place = shownName(placeOf(path) || param)
  return new Failure.ParameterInvalid({ param, message: `${place}: ${message}.` })
}
