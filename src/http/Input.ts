/** The input of a request, as one object for the operation: members of path, query and body, strictly read. */
import { Effect, Predicate, SchemaAST } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ParameterInvalid } from "../domain/Failure.ts"
import type * as Operation from "../kernel/Operation.ts"
import { shownName } from "../kernel/Refusals.ts"
import * as Body from "../transport/Body.ts"
import * as Json from "../transport/StrictJson.ts"

type Members = Readonly<Record<string, unknown>>

/** The parameter is named as it was sent; the message, which people read, names it on one line. */
const invalid = (param: string, message: string) =>
  new ParameterInvalid({ param, message: `${shownName(param)}: ${message}.` })

/** A member at fault; one without a name is the body's. */
const invalidMember = (name: string, message: string) =>
  name === "" ? invalid("body", "a member has no name") : invalid(name, message)

const decimal = /^-?(?:0|[1-9][0-9]*)$/

/** A text of the address as the JSON that the parameter's schema expects: whole numbers consist of digits only. */
const fromText = (schema: { readonly ast: SchemaAST.AST } | undefined, text: string): unknown => {
  if (schema === undefined) return text
  const encoded = SchemaAST.toEncoded(schema.ast)
  if (SchemaAST.isNumber(encoded) && decimal.test(text)) return Number(text)
  return SchemaAST.isBoolean(encoded) && (text === "true" || text === "false") ? text === "true" : text
}

const decodeComponent = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** The members of a query: each known, and given once. */
const readQuery = (operation: Operation.Any, url: string): Members | ParameterInvalid => {
  const start = url.indexOf("?")
  if (start === -1) return {}
  const members = new Map<string, unknown>()
  for (const pair of url.slice(start + 1).split("&")) {
    if (pair === "") continue
    const equals = pair.indexOf("=")
    const name = decodeComponent(equals === -1 ? pair : pair.slice(0, equals))
    const text = decodeComponent(equals === -1 ? "" : pair.slice(equals + 1))
    if (name === undefined) return invalid("query", "a name is not percent-encoded UTF-8")
    if (name === "") return invalid("query", "a value has no name")
    if (text === undefined) return invalid(name, "is not percent-encoded UTF-8")
    if (!Object.hasOwn(operation.query, name)) return invalid(name, "is not known here")
    if (members.has(name)) return invalid(name, "is given twice")
    members.set(name, fromText(operation.query[name], text))
  }
  return Object.fromEntries(members)
}

const jsonType = /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?\s*$/i

/** The members of a body: a JSON object; an empty body counts as an empty object. */
const readBody = Effect.fnUntraced(function*(operation: Operation.Any, request: HttpServerRequest.HttpServerRequest) {
  const bytes = yield* Body.read(request)
  if (bytes.byteLength === 0) return {}
  if (!jsonType.test(request.headers["content-type"] ?? "")) {
    return yield* invalid("Content-Type", "expected application/json")
  }
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return yield* invalid("Content-Encoding", "encoded bodies are not accepted")
  }
  const { duplicate, value } = yield* Effect.try({
    try: () => Json.read(Body.decode(bytes)),
    catch: () => invalid("body", "is not JSON")
  })
  if (duplicate !== undefined) return yield* invalidMember(duplicate, "duplicate member")
  if (!Predicate.isObject(value)) return yield* invalid("body", "expected a JSON object")
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(operation.body, name))
  if (unknown !== undefined) return yield* invalidMember(unknown, "is not known here")
  return value
})

/** The whole input of a request. Values are checked by the operation itself. */
export const read = (
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest,
  params: Readonly<Record<string, string | undefined>>
): Effect.Effect<Members, ParameterInvalid> => {
  const query = readQuery(operation, request.url)
  if (query instanceof ParameterInvalid) return Effect.fail(query)
  const inPath = Object.fromEntries(
    Object.entries(params).map(([name, text]) =>
      [name, text === undefined ? text : fromText(operation.params[name], text)] as const
    )
  )
  return Body.isAbsent(request)
    ? Effect.succeed({ ...inPath, ...query })
    : Effect.map(readBody(operation, request), (body) => ({ ...inPath, ...query, ...body }))
}
