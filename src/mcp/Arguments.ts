/** The arguments of a tool, as the operation takes them: assistants write null for nothing, and read smaller pages. */
import { Predicate, SchemaAST } from "effect"
import type { Caller } from "../domain/people/Access.ts"
import type * as Operation from "../kernel/Operation.ts"
import { archivePasswordIn, secret, withExtras } from "../transport/Extras.ts"

/** The number of items of a page over MCP where the call does not say: each of them is paid for by the assistant. */
export const defaultPageLimit = 20

const takesNull = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isNull(ast) || (SchemaAST.isUnion(ast) && ast.types.some(takesNull))

/** The types of a member of objects; those of a union may each have it. */
const typesOf = (ast: SchemaAST.AST, name: string): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast)
    ? ast.types.flatMap((type) => typesOf(type, name))
    : SchemaAST.isObjects(ast)
    ? ast.propertySignatures.flatMap((member) => member.name === name ? [member.type] : [])
    : []

/** True if null means absent: the member is optional, and null is none of its values. */
const nullIsAbsent = (types: ReadonlyArray<SchemaAST.AST>): boolean =>
  types.some((type) => type.context?.isOptional === true) && !types.some(takesNull)

/** The members of an object without those whose null means absent, at every depth. */
const presentMembers = (
  types: ReadonlyArray<SchemaAST.AST>,
  given: object
): ReadonlyArray<readonly [name: string, value: unknown]> =>
  Object.entries(given).flatMap(([name, value]) => {
    const of = types.flatMap((type) => typesOf(type, name))
    if (value === null) return nullIsAbsent(of) ? [] : [[name, value] as const]
    return [[name, present(of, value)] as const]
  })

const present = (types: ReadonlyArray<SchemaAST.AST>, value: unknown): unknown =>
  types.length > 0 && Predicate.isObject(value) ? Object.fromEntries(presentMembers(types, value)) : value

/** True if the operation answers a page whose size may be left to it. */
export const isPaged = ({ query }: Operation.Any): boolean => Object.hasOwn(query, "limit")

/** The arguments as the operation takes them. */
export const prepare = (operation: Operation.Any, given: unknown): unknown => {
  if (!Predicate.isObject(given)) return given
  const members = presentMembers([SchemaAST.toEncoded(operation.input.ast)], given)
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
