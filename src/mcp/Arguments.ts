/** The arguments of a tool, as the operation takes them: assistants write null for nothing, and read smaller pages. */
import { Predicate, type Schema, SchemaAST } from "effect"
import type { Caller } from "../domain/people/Access.ts"
import type * as Operation from "../kernel/Operation.ts"
import { archivePasswordIn, secret, withExtras } from "../transport/Extras.ts"

/** The number of items of a page over MCP where the call does not say: each of them is paid for by the assistant. */
export const defaultPageLimit = 20

const takesNull = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isNull(ast) || (SchemaAST.isUnion(ast) && ast.types.some(takesNull))

/** True if null means absent: the member is optional, and null is none of its values. */
const nullIsAbsent = ({ ast }: Schema.Top): boolean =>
  ast.context?.isOptional === true && !takesNull(SchemaAST.toEncoded(ast))

/** True if the operation answers a page whose size may be left to it. */
export const isPaged = ({ query }: Operation.Any): boolean => Object.hasOwn(query, "limit")

/** The arguments as the operation takes them. */
export const prepare = (operation: Operation.Any, given: unknown): unknown => {
  if (!Predicate.isObject(given)) return given
  const fields: Readonly<Record<string, Schema.Top>> = operation.input.fields
  const members = Object.entries(given).filter(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    return value !== null || field === undefined || !nullIsAbsent(field)
  })
  const limit = isPaged(operation) && !members.some(([name]) => name === "limit")
  return Object.fromEntries(limit ? [...members, ["limit", defaultPageLimit]] : members)
}

const inMeta = (meta: unknown, name: string): unknown => Predicate.hasProperty(meta, name) ? meta[name] : undefined

/**
 * The caller with what a call carries besides its arguments, where a model never sees it: the key under which it may be
 * repeated, in `_meta`, and the archive's password, there or in a header.
 */
export const carrying = (
  caller: Caller["Service"],
  meta: unknown,
  headers: Readonly<Record<string, string | undefined>>
): Caller["Service"] => {
  const key = inMeta(meta, "idempotency_key")
  return withExtras(caller, {
    archivePassword: secret(inMeta(meta, "archive_password")) ?? archivePasswordIn(headers),
    // A value that is no text fails like a key that is none.
    idempotencyKey: key === undefined ? undefined : typeof key === "string" ? key : ""
  })
}
